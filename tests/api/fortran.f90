! Files of the module forebay: boxes in Fortran's order, lists, what is pending, sections, mistakes; and the file
! by stream access.
program fortran
  use, intrinsic :: iso_fortran_env, only: int8, int64, real32, real64
  use mpi_f08
  use forebay
  implicit none
  integer, parameter :: nx = 5, ny = 7, nz = 3
  type, bind(c) :: cell
    integer :: number
    real :: value(2)
  end type cell
  type(forebay_file) :: file
  type(MPI_Info) :: info
  integer :: rank, ranks, i, j, k, ierror, failures
  integer(int64) :: bytes, behind
  real(real64) :: field(nx, ny, nz), around(0:nx + 1, 0:ny + 1, 0:nz + 1)
  real(real64), asynchronous :: got(nx, ny, nz)
  real(real64), allocatable :: all(:, :, :)
  integer :: list(6)
  integer, asynchronous :: list_got(6), pair(2)
  integer(int64) :: offsets(3), lengths(3)
  type(cell) :: cells(4), cells_got(4)
  real(real32) :: one
  character(len=3) :: words(2), words_got(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  failures = 0
  call MPI_Info_create(info)
  call MPI_Info_set(info, "forebay_stripe_bytes", "4k")
  call forebay_open(MPI_COMM_WORLD, "fortran.dat  ", ior(ior(forebay_create, forebay_rdwr), forebay_trunc), info, file, &
                    ierror)
  call expect(ierror == forebay_success, "open")

  ! A slab of z on each rank, its ghosts left out; then a plane of all ranks, in little steps of z.
  around = -1
  do k = 1, nz
    do j = 1, ny
      do i = 1, nx
        field(i, j, k) = i + 10*j + 100*(rank*nz + k)
      end do
    end do
  end do
  around(1:nx, 1:ny, 1:nz) = field
  call forebay_put_all(file, forebay_box([nx, ny, nz*ranks], start=[1, 1, rank*nz + 1]), around(1:nx, 1:ny, 1:nz), ierror)
  call expect(ierror == forebay_success, "put_all")
  call forebay_get_all(file, forebay_box([nx, ny, nz*ranks], start=[1, 1, rank*nz + 1]), got)
  call expect(all_equal(got, field), "get_all")
  allocate (all(nx, ny, ranks))
  call forebay_get(file, forebay_box(int([nx, ny, nz*ranks], int64), start=[1_int64, 1_int64, 2_int64], &
                                     stride=[1_int64, 1_int64, int(nz, int64)]), all)
  do k = 1, ranks
    call expect(abs(all(nx, ny, k) - (nx + 10*ny + 100*((k - 1)*nz + 2))) < 0.5, "planes")
  end do
  ! The count is given where the data have other dimensions.
  call forebay_get(file, forebay_box([nx, ny, nz*ranks], start=[2, 3, rank*nz + 1], count=[1, ny - 2, 1]), &
                   got(1:ny - 2, 1, 1), ierror)
  call expect(ierror == forebay_success, "a row")

  ! A list, pending, and turned round; its arrays are used again before the wait.
  behind = 8_int64*nx*ny*nz*ranks
  list = [(100*rank + i, i=1, 6)]
  offsets = 8*rank + [4, 0, 7]
  lengths = [3, 2, 1]
  call forebay_iput(file, offsets, lengths, list, offset=behind, order=forebay_big)
  call forebay_iget(file, offsets, lengths, list_got, offset=behind, order=forebay_big)
  call forebay_iget(file, forebay_box(behind + 4*(8*rank + 5)), pair)
  offsets = 0
  lengths = 0
  call forebay_wait_all(file, ierror)
  call expect(ierror == forebay_success, "wait_all")
  call expect(all_same(list_got, list), "list")
  call expect(ibits(pair(1), 24, 8) == ibits(list(2), 0, 8), "turned round")

  ! A derived type, a scalar, characters, an array whole, from a section; and nothing.
  behind = behind + 32_int64*ranks
  cells%number = [(rank + i, i=1, 4)]
  cells%value(1) = 0.5
  cells%value(2) = [(1.0*i, i=1, 4)]
  words = ["abc", "def"]
  call forebay_put(file, forebay_box(behind + 58_int64*rank), cells)
  call forebay_put(file, forebay_box(behind + 58_int64*rank + 48), 2.5_real32)
  call forebay_put(file, forebay_box(behind + 58_int64*rank + 52), words)
  call forebay_get(file, forebay_box(behind + 58_int64*rank), cells_got)
  call forebay_get(file, forebay_box(behind + 58_int64*rank + 48), one)
  call forebay_get(file, forebay_box(behind + 58_int64*rank + 52), words_got)
  call expect(all_same(cells_got%number, cells%number) .and. one == 2.5 .and. words_got(2) == "def", "types")
  call forebay_put_all(file, offsets(1:0), lengths(1:0), list(1:0))
  call forebay_iput(file, offsets(1:0), lengths(1:0), list(1:0))
  call forebay_wait(file)
  call forebay_flush(file, ierror)
  call forebay_size(file, bytes)
  call expect(bytes == behind + 58*ranks, "size")

  ! Mistakes.
  call forebay_put(file, forebay_box([nx, ny]), field, ierror)
  call expect(ierror == forebay_err_argument .and. index(forebay_last_error(), "dimensions") > 0, "another rank")
  call forebay_put(file, forebay_box([nx, ny, nz], start=[1, 1]), field, ierror)
  call expect(ierror == forebay_err_argument .and. index(forebay_last_error(), "one length") > 0, "start")
  call forebay_put(file, forebay_box([nx, ny, nz], start=[0, 1, 1]), field, ierror)
  call expect(ierror == forebay_err_argument, "start counts from 1")
  call forebay_put(file, forebay_box([nx, ny, nz], start=[1, 1, 2]), field, ierror)
  call expect(index(forebay_last_error(), "do not fit") > 0, "over the end")
  call forebay_put(file, forebay_box([100, 100, 100], count=[nx, ny, nz - 1]), field, ierror)
  call expect(index(forebay_last_error(), "as many elements") > 0, "elements of a box")
  call forebay_put(file, offsets, lengths, list, ierror=ierror)
  call expect(index(forebay_last_error(), "as many elements") > 0, "elements of a list")
  call forebay_put(file, offsets, lengths(1:2), list, ierror=ierror)
  call expect(index(forebay_last_error(), "one length") > 0, "lengths")
  call forebay_get(file, forebay_box(0_int64), list(1:5:2), ierror)
  call expect(index(forebay_last_error(), "not contiguous") > 0, "a section is not filled")
  call forebay_put(file, forebay_box(0_int64, order=9), list, ierror)
  call expect(index(forebay_last_error(), "order of bytes") > 0, "order")
  ! One rank's, in pending calls, all hear of.
  if (rank == ranks - 1) then
    call forebay_iput(file, forebay_box(0_int64), list(1:5:2), ierror)
    call expect(ierror == forebay_err_argument, "a section is not pending")
  end if
  call forebay_sync(file, ierror)
  call expect(ierror == forebay_err_argument, "all hear of it")
  call forebay_set_size(file, behind)
  call forebay_close(file)
  call forebay_wait_all(file, ierror)
  call expect(ierror == forebay_err_file, "closed")

  if (rank == 0) then
    deallocate (all)
    allocate (all(nx, ny, nz*ranks))
    open (unit=10, file="fortran.dat", access="stream", form="unformatted", action="read")
    read (10) all
    close (10)
    do k = 1, nz*ranks
      call expect(abs(all(2, 3, k) - (2 + 30 + 100*k)) < 0.5, "the file")
    end do
  end if

  ! The integers that module mpi has for handles.
  call forebay_open(MPI_COMM_WORLD%mpi_val, "fortran.dat", forebay_rdonly, MPI_INFO_NULL%mpi_val, file, ierror)
  call expect(ierror == forebay_success, "open with integers")
  call forebay_put(file, forebay_box(0_int64), list, ierror)
  call expect(ierror == forebay_err_mode, "only read")
  call forebay_close(file)

  call MPI_Info_free(info)
  call MPI_Allreduce(MPI_IN_PLACE, failures, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  call MPI_Finalize()
  if (failures > 0) error stop 1
  if (rank == 0) print '(a)', "ok"

contains

  logical function all_equal(a, b)
    real(real64), intent(in) :: a(:, :, :), b(:, :, :)
    all_equal = maxval(abs(a - b)) < 0.5
  end function all_equal

  logical function all_same(a, b)
    integer, intent(in) :: a(:), b(:)
    all_same = maxval(abs(a - b)) == 0
  end function all_same

  subroutine expect(good, what)
    logical, intent(in) :: good
    character(len=*), intent(in) :: what
    if (good) return
    print '(a, i0, 2a)', "rank ", rank, ": ", what
    print '(a)', forebay_last_error()
    failures = failures + 1
  end subroutine expect

end program fortran
