! Forebay for Fortran 2018 programs: `use forebay`. TCIO is that of <forebay/tcio.h>; files of boxes and lists are
! those of <forebay/file.h>. Data are arrays or scalars of any type and rank; an assumed-size array is given with its
! bounds, x(1:n).
!
! A box is in Fortran's order: the first dimension is the fastest in the file, and `start` counts from 1. `offset`,
! in bytes, and the offsets of a list, in elements of the data, count from 0, as in MPI.
!
! `ierror` is a code, forebay_success or forebay_err_*, and may be left out: then a failure ends the program, with
! its reason. Memory that is read or got into, or is pending, must be contiguous and stay until it is filled or put;
! so it should have the ASYNCHRONOUS attribute where the compiler could move accesses over that call.
module forebay
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_int64_t, c_null_char, c_null_ptr, &
                                         c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64
  implicit none
  private

  type, bind(c), public :: tcio_file
    private
    type(c_ptr) :: handle = c_null_ptr
  end type tcio_file
  type(tcio_file), parameter, public :: tcio_file_null = tcio_file(c_null_ptr)

  type, bind(c), public :: forebay_file
    private
    type(c_ptr) :: handle = c_null_ptr
  end type forebay_file
  type(forebay_file), parameter, public :: forebay_file_null = forebay_file(c_null_ptr)

  integer, parameter, public :: forebay_rdonly = 1, forebay_wronly = 2, forebay_rdwr = 3, forebay_create = 4, &
                                forebay_excl = 8, forebay_trunc = 16
  integer, parameter, public :: tcio_seek_set = 0, tcio_seek_cur = 1, tcio_seek_end = 2
  integer, parameter, public :: forebay_success = 0, forebay_err_argument = 1, forebay_err_file = 2, &
                                forebay_err_mode = 3, forebay_err_hint = 4, forebay_err_no_file = 5, &
                                forebay_err_access = 6, forebay_err_space = 7, forebay_err_io = 8, &
                                forebay_err_memory = 9, forebay_err_mpi = 10, forebay_err_unsupported = 11, &
                                forebay_err_peer = 12, forebay_err_internal = 13, forebay_err_callback = 14
  ! Order of an element's bytes in the file.
  integer, parameter, public :: forebay_native = 0, forebay_big = 1, forebay_little = 2

  integer, parameter :: most_dims = 32
  ! A box of an array of the file: forebay_box(shape, start, count, stride, offset, order), where all but the shape
  ! may be left out, or forebay_box(offset, order), an array that is put or got whole. bindings.c has the same.
  type, bind(c), public :: forebay_box
    private
    integer(c_int64_t) :: offset = 0
    integer(c_int64_t) :: shape(most_dims) = 0, start(most_dims) = 1, count(most_dims) = 0, stride(most_dims) = 1
    integer(c_int) :: ndims = -1  ! the data's
    integer(c_int) :: counted = 0, mismatch = 0, order = forebay_native
  end type forebay_box

  interface forebay_box
    module procedure box_of_int32, box_of_int64, box_at
  end interface forebay_box

  public :: tcio_open, tcio_close, tcio_write, tcio_write_at, tcio_read, tcio_read_at, tcio_fetch, tcio_fetch_all, &
            tcio_flush, tcio_sync, tcio_seek, tcio_tell, tcio_size, tcio_set_size, &
            forebay_open, forebay_close, forebay_put, forebay_put_all, forebay_iput, forebay_get, forebay_get_all, &
            forebay_iget, forebay_wait, forebay_wait_all, forebay_flush, forebay_sync, forebay_size, forebay_set_size, &
            forebay_strerror, forebay_last_error

  ! tcio_open(comm, path, flags, info, file, ierror), with the handles of mpi_f08 or of mpi.
  interface tcio_open
    module procedure tcio_open_f08, tcio_open_integer
  end interface tcio_open

  ! forebay_open(comm, path, flags, info, file, ierror), with the handles of mpi_f08 or of mpi.
  interface forebay_open
    module procedure open_f08, open_integer
  end interface forebay_open

  interface
    subroutine tcio_open_in_c(comm, path, flags, info, file, ierror) bind(c, name="forebay_tcio_f_open")
      import :: c_char, c_int, tcio_file
      integer, value :: comm, info
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: flags
      type(tcio_file), intent(out) :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_open_in_c

    subroutine tcio_close(file, ierror) bind(c, name="forebay_tcio_f_close")
      import :: c_int, tcio_file
      type(tcio_file), intent(inout) :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_close

    subroutine tcio_write(file, data, ierror) bind(c, name="forebay_tcio_f_write")
      import :: c_int, tcio_file
      type(tcio_file), value :: file
      type(*), dimension(..), intent(in) :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_write

    subroutine tcio_write_at(file, offset, data, ierror) bind(c, name="forebay_tcio_f_write_at")
      import :: c_int, c_int64_t, tcio_file
      type(tcio_file), value :: file
      integer(c_int64_t), value :: offset
      type(*), dimension(..), intent(in) :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_write_at

    subroutine tcio_read(file, data, ierror) bind(c, name="forebay_tcio_f_read")
      import :: c_int, tcio_file
      type(tcio_file), value :: file
      type(*), dimension(..), asynchronous :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_read

    subroutine tcio_read_at(file, offset, data, ierror) bind(c, name="forebay_tcio_f_read_at")
      import :: c_int, c_int64_t, tcio_file
      type(tcio_file), value :: file
      integer(c_int64_t), value :: offset
      type(*), dimension(..), asynchronous :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_read_at

    subroutine tcio_fetch(file, ierror) bind(c, name="forebay_tcio_f_fetch")
      import :: c_int, tcio_file
      type(tcio_file), value :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_fetch

    subroutine tcio_fetch_all(file, ierror) bind(c, name="forebay_tcio_f_fetch_all")
      import :: c_int, tcio_file
      type(tcio_file), value :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_fetch_all

    subroutine tcio_flush(file, ierror) bind(c, name="forebay_tcio_f_flush")
      import :: c_int, tcio_file
      type(tcio_file), value :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_flush

    subroutine tcio_sync(file, ierror) bind(c, name="forebay_tcio_f_sync")
      import :: c_int, tcio_file
      type(tcio_file), value :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_sync

    subroutine tcio_seek(file, offset, whence, ierror) bind(c, name="forebay_tcio_f_seek")
      import :: c_int, c_int64_t, tcio_file
      type(tcio_file), value :: file
      integer(c_int64_t), value :: offset
      integer(c_int), value :: whence
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_seek

    subroutine tcio_tell(file, offset, ierror) bind(c, name="forebay_tcio_f_tell")
      import :: c_int, c_int64_t, tcio_file
      type(tcio_file), value :: file
      integer(c_int64_t), intent(out) :: offset
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_tell

    subroutine tcio_size(file, bytes, ierror) bind(c, name="forebay_tcio_f_size")
      import :: c_int, c_int64_t, tcio_file
      type(tcio_file), value :: file
      integer(c_int64_t), intent(out) :: bytes
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_size

    subroutine tcio_set_size(file, bytes, ierror) bind(c, name="forebay_tcio_f_set_size")
      import :: c_int, c_int64_t, tcio_file
      type(tcio_file), value :: file
      integer(c_int64_t), value :: bytes
      integer(c_int), intent(out), optional :: ierror
    end subroutine tcio_set_size

    subroutine open_in_c(comm, path, flags, info, file, ierror) bind(c, name="forebay_f_open")
      import :: c_char, c_int, forebay_file
      integer, value :: comm, info
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: flags
      type(forebay_file), intent(out) :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine open_in_c

    subroutine forebay_close(file, ierror) bind(c, name="forebay_f_close")
      import :: c_int, forebay_file
      type(forebay_file), intent(inout) :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine forebay_close

    subroutine forebay_wait(file, ierror) bind(c, name="forebay_f_wait")
      import :: c_int, forebay_file
      type(forebay_file), value :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine forebay_wait

    subroutine forebay_wait_all(file, ierror) bind(c, name="forebay_f_wait_all")
      import :: c_int, forebay_file
      type(forebay_file), value :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine forebay_wait_all

    subroutine forebay_flush(file, ierror) bind(c, name="forebay_f_flush")
      import :: c_int, forebay_file
      type(forebay_file), value :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine forebay_flush

    subroutine forebay_sync(file, ierror) bind(c, name="forebay_f_sync")
      import :: c_int, forebay_file
      type(forebay_file), value :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine forebay_sync

    subroutine forebay_size(file, bytes, ierror) bind(c, name="forebay_f_size")
      import :: c_int, c_int64_t, forebay_file
      type(forebay_file), value :: file
      integer(c_int64_t), intent(out) :: bytes
      integer(c_int), intent(out), optional :: ierror
    end subroutine forebay_size

    subroutine forebay_set_size(file, bytes, ierror) bind(c, name="forebay_f_set_size")
      import :: c_int, c_int64_t, forebay_file
      type(forebay_file), value :: file
      integer(c_int64_t), value :: bytes
      integer(c_int), intent(out), optional :: ierror
    end subroutine forebay_set_size

    function strerror_in_c(code) bind(c, name="forebay_strerror") result(text)
      import :: c_int, c_ptr
      integer(c_int), value :: code
      type(c_ptr) :: text
    end function strerror_in_c

    function last_error_in_c() bind(c, name="forebay_last_error") result(text)
      import :: c_ptr
      type(c_ptr) :: text
    end function last_error_in_c

    pure function length_in_c(text) bind(c, name="strlen") result(length)
      import :: c_ptr, c_size_t
      type(c_ptr), value, intent(in) :: text
      integer(c_size_t) :: length
    end function length_in_c
  end interface

  ! Puts this rank's data: (file, box, data, ierror) or (file, offsets, lengths, data, offset, order, ierror).
  interface forebay_put
    subroutine put_box(file, box, data, ierror) bind(c, name="forebay_f_put_box")
      import :: c_int, forebay_box, forebay_file
      type(forebay_file), value :: file
      type(forebay_box), intent(in) :: box
      type(*), dimension(..), intent(in) :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine put_box

    subroutine put_list(file, offsets, lengths, data, offset, order, ierror) bind(c, name="forebay_f_put_list")
      import :: c_int, c_int64_t, forebay_file
      type(forebay_file), value :: file
      integer(c_int64_t), intent(in) :: offsets(:), lengths(:)
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in), optional :: offset
      integer(c_int), intent(in), optional :: order
      integer(c_int), intent(out), optional :: ierror
    end subroutine put_list
  end interface forebay_put

  ! The same of all ranks together. Collective.
  interface forebay_put_all
    subroutine put_all_box(file, box, data, ierror) bind(c, name="forebay_f_put_all_box")
      import :: c_int, forebay_box, forebay_file
      type(forebay_file), value :: file
      type(forebay_box), intent(in) :: box
      type(*), dimension(..), intent(in) :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine put_all_box

    subroutine put_all_list(file, offsets, lengths, data, offset, order, ierror) bind(c, name="forebay_f_put_all_list")
      import :: c_int, c_int64_t, forebay_file
      type(forebay_file), value :: file
      integer(c_int64_t), intent(in) :: offsets(:), lengths(:)
      type(*), dimension(..), intent(in) :: data
      integer(c_int64_t), intent(in), optional :: offset
      integer(c_int), intent(in), optional :: order
      integer(c_int), intent(out), optional :: ierror
    end subroutine put_all_list
  end interface forebay_put_all

  ! Notes data to be put by the next wait; they must stay until then.
  interface forebay_iput
    subroutine iput_box(file, box, data, ierror) bind(c, name="forebay_f_iput_box")
      import :: c_int, forebay_box, forebay_file
      type(forebay_file), value :: file
      type(forebay_box), intent(in) :: box
      type(*), dimension(..), intent(in), asynchronous :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine iput_box

    subroutine iput_list(file, offsets, lengths, data, offset, order, ierror) bind(c, name="forebay_f_iput_list")
      import :: c_int, c_int64_t, forebay_file
      type(forebay_file), value :: file
      integer(c_int64_t), intent(in) :: offsets(:), lengths(:)
      type(*), dimension(..), intent(in), asynchronous :: data
      integer(c_int64_t), intent(in), optional :: offset
      integer(c_int), intent(in), optional :: order
      integer(c_int), intent(out), optional :: ierror
    end subroutine iput_list
  end interface forebay_iput

  ! Gets into data of this rank, as forebay_put puts.
  interface forebay_get
    subroutine get_box(file, box, data, ierror) bind(c, name="forebay_f_get_box")
      import :: c_int, forebay_box, forebay_file
      type(forebay_file), value :: file
      type(forebay_box), intent(in) :: box
      type(*), dimension(..), intent(inout) :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine get_box

    subroutine get_list(file, offsets, lengths, data, offset, order, ierror) bind(c, name="forebay_f_get_list")
      import :: c_int, c_int64_t, forebay_file
      type(forebay_file), value :: file
      integer(c_int64_t), intent(in) :: offsets(:), lengths(:)
      type(*), dimension(..), intent(inout) :: data
      integer(c_int64_t), intent(in), optional :: offset
      integer(c_int), intent(in), optional :: order
      integer(c_int), intent(out), optional :: ierror
    end subroutine get_list
  end interface forebay_get

  ! The same of all ranks together. Collective.
  interface forebay_get_all
    subroutine get_all_box(file, box, data, ierror) bind(c, name="forebay_f_get_all_box")
      import :: c_int, forebay_box, forebay_file
      type(forebay_file), value :: file
      type(forebay_box), intent(in) :: box
      type(*), dimension(..), intent(inout) :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine get_all_box

    subroutine get_all_list(file, offsets, lengths, data, offset, order, ierror) bind(c, name="forebay_f_get_all_list")
      import :: c_int, c_int64_t, forebay_file
      type(forebay_file), value :: file
      integer(c_int64_t), intent(in) :: offsets(:), lengths(:)
      type(*), dimension(..), intent(inout) :: data
      integer(c_int64_t), intent(in), optional :: offset
      integer(c_int), intent(in), optional :: order
      integer(c_int), intent(out), optional :: ierror
    end subroutine get_all_list
  end interface forebay_get_all

  ! Notes data to be filled by the next wait.
  interface forebay_iget
    subroutine iget_box(file, box, data, ierror) bind(c, name="forebay_f_iget_box")
      import :: c_int, forebay_box, forebay_file
      type(forebay_file), value :: file
      type(forebay_box), intent(in) :: box
      type(*), dimension(..), asynchronous :: data
      integer(c_int), intent(out), optional :: ierror
    end subroutine iget_box

    subroutine iget_list(file, offsets, lengths, data, offset, order, ierror) bind(c, name="forebay_f_iget_list")
      import :: c_int, c_int64_t, forebay_file
      type(forebay_file), value :: file
      integer(c_int64_t), intent(in) :: offsets(:), lengths(:)
      type(*), dimension(..), asynchronous :: data
      integer(c_int64_t), intent(in), optional :: offset
      integer(c_int), intent(in), optional :: order
      integer(c_int), intent(out), optional :: ierror
    end subroutine iget_list
  end interface forebay_iget

contains

  subroutine tcio_open_f08(comm, path, flags, info, file, ierror)
    use mpi_f08, only: MPI_Comm, MPI_Info
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    integer, intent(in) :: flags
    type(MPI_Info), intent(in) :: info
    type(tcio_file), intent(out) :: file
    integer, intent(out), optional :: ierror
    call tcio_open_in_c(comm%mpi_val, trim(path)//c_null_char, flags, info%mpi_val, file, ierror)
  end subroutine tcio_open_f08

  subroutine tcio_open_integer(comm, path, flags, info, file, ierror)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: path
    integer, intent(in) :: flags
    integer, intent(in) :: info
    type(tcio_file), intent(out) :: file
    integer, intent(out), optional :: ierror
    call tcio_open_in_c(comm, trim(path)//c_null_char, flags, info, file, ierror)
  end subroutine tcio_open_integer

  subroutine open_f08(comm, path, flags, info, file, ierror)
    use mpi_f08, only: MPI_Comm, MPI_Info
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    integer, intent(in) :: flags
    type(MPI_Info), intent(in) :: info
    type(forebay_file), intent(out) :: file
    integer, intent(out), optional :: ierror
    call open_in_c(comm%mpi_val, trim(path)//c_null_char, flags, info%mpi_val, file, ierror)
  end subroutine open_f08

  subroutine open_integer(comm, path, flags, info, file, ierror)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: path
    integer, intent(in) :: flags
    integer, intent(in) :: info
    type(forebay_file), intent(out) :: file
    integer, intent(out), optional :: ierror
    call open_in_c(comm, trim(path)//c_null_char, flags, info, file, ierror)
  end subroutine open_integer

  pure function box_of_int32(shape, start, count, stride, offset, order) result(box)
    integer(int32), intent(in) :: shape(:)
    integer(int32), intent(in), optional :: start(:), count(:), stride(:)
    integer(int64), intent(in), optional :: offset
    integer, intent(in), optional :: order
    type(forebay_box) :: box
    integer :: n
    box = box_at(0_int64, order)
    if (present(offset)) box%offset = offset
    box%ndims = size(shape)
    n = min(size(shape), most_dims)
    box%shape(:n) = shape(:n)
    if (present(start)) then
      if (size(start) /= size(shape)) box%mismatch = 1
      if (size(start) == size(shape)) box%start(:n) = start(:n)
    end if
    if (present(count)) then
      box%counted = 1
      if (size(count) /= size(shape)) box%mismatch = 1
      if (size(count) == size(shape)) box%count(:n) = count(:n)
    end if
    if (present(stride)) then
      if (size(stride) /= size(shape)) box%mismatch = 1
      if (size(stride) == size(shape)) box%stride(:n) = stride(:n)
    end if
  end function box_of_int32

  pure function box_of_int64(shape, start, count, stride, offset, order) result(box)
    integer(int64), intent(in) :: shape(:)
    integer(int64), intent(in), optional :: start(:), count(:), stride(:)
    integer(int64), intent(in), optional :: offset
    integer, intent(in), optional :: order
    type(forebay_box) :: box
    integer :: n
    box = box_at(0_int64, order)
    if (present(offset)) box%offset = offset
    box%ndims = size(shape)
    n = min(size(shape), most_dims)
    box%shape(:n) = shape(:n)
    if (present(start)) then
      if (size(start) /= size(shape)) box%mismatch = 1
      if (size(start) == size(shape)) box%start(:n) = start(:n)
    end if
    if (present(count)) then
      box%counted = 1
      if (size(count) /= size(shape)) box%mismatch = 1
      if (size(count) == size(shape)) box%count(:n) = count(:n)
    end if
    if (present(stride)) then
      if (size(stride) /= size(shape)) box%mismatch = 1
      if (size(stride) == size(shape)) box%stride(:n) = stride(:n)
    end if
  end function box_of_int64

  pure function box_at(offset, order) result(box)
    integer(int64), intent(in) :: offset
    integer, intent(in), optional :: order
    type(forebay_box) :: box
    box%offset = offset
    if (present(order)) box%order = order
  end function box_at

  ! What a code means.
  function forebay_strerror(code) result(text)
    integer, intent(in) :: code
    character(len=:), allocatable :: text
    text = text_of(strerror_in_c(code))
  end function forebay_strerror

  ! What went wrong in the last call that failed: file, range, cause.
  function forebay_last_error() result(text)
    character(len=:), allocatable :: text
    text = text_of(last_error_in_c())
  end function forebay_last_error

  function text_of(from) result(text)
    type(c_ptr), intent(in) :: from
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i, failed
    call c_f_pointer(from, letters, [length_in_c(from)])
    ! Without stat, the compiler puts the path of this file into the library.
    allocate (character(len=size(letters)) :: text, stat=failed)
    if (failed /= 0) error stop "forebay: no memory for a message"
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function text_of

end module forebay
