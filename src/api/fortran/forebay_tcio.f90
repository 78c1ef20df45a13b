! TCIO for Fortran 2008 programs: `use forebay_tcio`. The functions are those of <forebay/tcio.h>; lengths
! are those of the arrays, of any type and rank. docs/tcio.md has the contract.
!
! `ierror` is TCIO's code, and may be left out: then a failure ends the program, with its reason. A buffer
! that is read into must stay, and be contiguous, until it is filled; so it should have the ASYNCHRONOUS
! attribute where the compiler could move accesses over that call.
module forebay_tcio
  use, intrinsic :: iso_c_binding, only: c_char, c_f_pointer, c_int, c_int64_t, c_null_char, c_null_ptr, &
                                         c_ptr, c_size_t
  implicit none
  private

  type, bind(c), public :: tcio_file
    private
    type(c_ptr) :: handle = c_null_ptr
  end type tcio_file
  type(tcio_file), parameter, public :: tcio_file_null = tcio_file(c_null_ptr)

  integer, parameter, public :: forebay_rdonly = 1, forebay_wronly = 2, forebay_rdwr = 3, forebay_create = 4, forebay_excl = 8, &
                                forebay_trunc = 16
  integer, parameter, public :: tcio_seek_set = 0, tcio_seek_cur = 1, tcio_seek_end = 2
  integer, parameter, public :: forebay_success = 0, forebay_err_argument = 1, forebay_err_file = 2, forebay_err_mode = 3, &
                                forebay_err_hint = 4, forebay_err_no_file = 5, forebay_err_access = 6, forebay_err_space = 7, &
                                forebay_err_io = 8, forebay_err_memory = 9, forebay_err_mpi = 10, forebay_err_unsupported = 11, &
                                forebay_err_peer = 12, forebay_err_internal = 13

  public :: tcio_open, tcio_close, tcio_write, tcio_write_at, tcio_read, tcio_read_at, tcio_fetch, tcio_fetch_all, &
            tcio_flush, tcio_sync, tcio_seek, tcio_tell, tcio_size, tcio_set_size, forebay_strerror, forebay_last_error

  ! tcio_open(comm, path, flags, info, file, ierror), with the handles of mpi_f08 or of mpi.
  interface tcio_open
    module procedure open_f08, open_integer
  end interface tcio_open

  interface
    subroutine open_in_c(comm, path, flags, info, file, ierror) bind(c, name="forebay_tcio_f_open")
      import :: c_char, c_int, tcio_file
      integer, value :: comm, info
      character(kind=c_char), intent(in) :: path(*)
      integer(c_int), value :: flags
      type(tcio_file), intent(out) :: file
      integer(c_int), intent(out), optional :: ierror
    end subroutine open_in_c

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

contains

  subroutine open_f08(comm, path, flags, info, file, ierror)
    use mpi_f08, only: MPI_Comm, MPI_Info
    type(MPI_Comm), intent(in) :: comm
    character(len=*), intent(in) :: path
    integer, intent(in) :: flags
    type(MPI_Info), intent(in) :: info
    type(tcio_file), intent(out) :: file
    integer, intent(out), optional :: ierror
    call open_in_c(comm%mpi_val, trim(path)//c_null_char, flags, info%mpi_val, file, ierror)
  end subroutine open_f08

  subroutine open_integer(comm, path, flags, info, file, ierror)
    integer, intent(in) :: comm
    character(len=*), intent(in) :: path
    integer, intent(in) :: flags
    integer, intent(in) :: info
    type(tcio_file), intent(out) :: file
    integer, intent(out), optional :: ierror
    call open_in_c(comm, trim(path)//c_null_char, flags, info, file, ierror)
  end subroutine open_integer

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

end module forebay_tcio
