! TCIO of the module forebay: kinds and ranks of arrays, sections, both kinds of MPI's handles, and its errors.
program fortran
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  use mpi_f08
  use forebay
  implicit none
  integer, parameter :: n = 1000
  type(tcio_file) :: file
  type(MPI_Info) :: info
  integer :: rank, ranks, i, ierror, failures
  integer(int64) :: at, row, bytes
  integer :: numbers(n)
  integer, asynchronous :: numbers_read(n)
  real(real64) :: field(4, n)
  real(real64), asynchronous :: field_read(4, n)
  real(real32) :: one
  integer(int8) :: byte
  character(len=5) :: word
  character(len=5), asynchronous :: word_read

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  failures = 0
  numbers = [(rank*n + i, i=1, n)]
  do i = 1, n
    field(:, i) = rank + i*[1, 10, 100, 1000]
  end do
  call MPI_Info_create(info)
  call MPI_Info_set(info, "forebay_segment_bytes", "4k")

  ! Of each rank in turn: a number and a column of the field.
  call tcio_open(MPI_COMM_WORLD, "fortran.dat  ", ior(forebay_create, forebay_rdwr), info, file, ierror)
  call expect(ierror == forebay_success, "open")
  do i = 1, n
    at = place(i)
    call tcio_write_at(file, at, numbers(i), ierror)
    call expect(ierror == forebay_success, "write_at")
    call tcio_write_at(file, at + 4, field(:, i))
  end do
  row = place(n + 1) - 36_int64*rank
  ! A section that is not contiguous; a scalar; a character string; one byte.
  call tcio_seek(file, row + 100_int64*rank, tcio_seek_set)
  call tcio_write(file, field(2, 1:9:2))
  call tcio_write(file, 2.5_real32)
  call tcio_write(file, "words")
  call tcio_write(file, 7_int8)
  call tcio_tell(file, at)
  call expect(at == row + 100*rank + 5*8 + 4 + 5 + 1, "tell")
  call tcio_flush(file, ierror)
  call expect(ierror == forebay_success, "flush")

  numbers_read = 0
  do i = 1, n
    call tcio_read_at(file, place(i), numbers_read(i))
    call tcio_read_at(file, place(i) + 4, field_read(:, i))
  end do
  call tcio_fetch(file)
  call expect(all(numbers_read == numbers), "numbers")
  call expect(all(field_read == field), "field")
  call tcio_seek(file, row + 100_int64*rank, tcio_seek_set)
  call tcio_read(file, field_read(:, 1))
  call tcio_seek(file, 8_int64, tcio_seek_cur)
  call tcio_read(file, one)
  call tcio_read(file, word_read)
  call tcio_read(file, byte)
  call tcio_fetch_all(file)
  call expect(all(field_read(:, 1) == field(2, 1:7:2)), "section")
  word = word_read
  call expect(one == 2.5_real32 .and. word == "words" .and. byte == 7, "scalars")

  ! Mistakes.
  call tcio_read_at(file, 0_int64, numbers_read(1:9:2), ierror)
  call expect(ierror == forebay_err_argument, "a section is not read")
  call tcio_write_at(file, -1_int64, numbers, ierror)
  call expect(ierror == forebay_err_argument, "a negative offset")
  call expect(index(forebay_last_error(), "fortran.dat") > 0, "last_error")
  call expect(forebay_strerror(ierror) == "bad argument", "strerror")
  call tcio_seek(file, 0_int64, 9, ierror)
  call expect(ierror == forebay_err_argument, "whence")
  call tcio_set_size(file, row)
  call tcio_size(file, bytes)
  call expect(bytes == row, "size")
  call tcio_sync(file)
  call tcio_close(file)
  call tcio_flush(file, ierror)
  call expect(ierror == forebay_err_file, "closed")

  ! The integers that module mpi has for handles.
  call tcio_open(MPI_COMM_WORLD%mpi_val, "fortran.dat", forebay_rdonly, MPI_INFO_NULL%mpi_val, file, ierror)
  call expect(ierror == forebay_success, "open with integers")
  call tcio_seek(file, 0_int64, tcio_seek_end)
  call tcio_tell(file, at)
  call expect(at == row, "the end")
  call tcio_close(file)

  call MPI_Info_free(info)
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (failures > 0) error stop 1
  if (rank == 0) print '(a)', "ok"

contains

  integer(int64) function place(i)
    integer, intent(in) :: i
    place = 36_int64*((i - 1_int64)*ranks + rank)
  end function place

  subroutine expect(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    print '(a, i0, 2a)', "rank ", rank, ": ", what
    print '(a)', forebay_last_error()
    failures = failures + 1
  end subroutine expect

end program fortran
