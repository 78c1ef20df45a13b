! Fortran: `use pnetcdf`, the generic nf90mpi_ procedures. Blocking puts of every kind, array sections, lists of pieces,
! subarrays as derived types, nonblocking and buffered puts; everything is read back.
program fortran90
  use mpi
  use pnetcdf
  use, intrinsic :: iso_fortran_env, only: int8, int16, int32, int64, real32, real64
  implicit none
  integer, parameter :: offset = MPI_OFFSET_KIND
  integer(offset), parameter :: nx = 8, rows_each = 3, steps = 3
  integer :: rank, ranks, err, wrong, all_wrong

  call MPI_Init(err)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
  wrong = 0
  call every_kind('kinds.nc')
  call nonblocking('nonblocking.nc')
  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, err)
  if (rank == 0) print '(a,i0)', 'wrong: ', all_wrong
  call MPI_Finalize(err)
  if (all_wrong /= 0) stop 1

contains

  subroutine must(code, what)
    integer, intent(in) :: code
    character(*), intent(in) :: what
    if (code == nf90_noerr) return
    print '(a,i0,4a)', 'rank ', rank, ': ', what, ': ', trim(nf90mpi_strerror(code))
    wrong = wrong + 1
  end subroutine must

  subroutine expect(right, what)
    logical, intent(in) :: right
    character(*), intent(in) :: what
    if (right) return
    print '(a,i0,3a)', 'rank ', rank, ': ', what, ' is not what was put'
    wrong = wrong + 1
  end subroutine expect

  ! One variable a kind, each put from several kinds.
  subroutine every_kind(path)
    character(*), intent(in) :: path
    integer :: file, time, x, y, v(7), text, plane, derived, sizes(2), part(2), first(2), code
    integer(offset) :: start(2), count(2), stride(2), map(2)
    integer(int8) :: i1(nx, rows_each)
    integer(int16) :: i2(nx, rows_each)
    integer(int32) :: i4(nx, rows_each), ghost(nx + 4, rows_each + 2), back(nx, rows_each)
    integer(int64) :: i8(nx, rows_each)
    real(real32) :: r4(nx, rows_each)
    real(real64) :: r8(nx, rows_each), wide(2*nx, rows_each), turned(rows_each, nx), shifted(rows_each, nx), back8(nx, rows_each)
    character(nx) :: letters(rows_each)
    integer :: i, j, k, types(7)
    character(1) :: digit

    types = [nf90_byte, nf90_short, nf90_int, nf90_int64, nf90_float, nf90_double, nf90_uint]
    call must(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_data), MPI_INFO_NULL, file), 'create')
    call must(nf90mpi_def_dim(file, 'x', nx, x), 'def_dim')
    call must(nf90mpi_def_dim(file, 'y', rows_each*ranks, y), 'def_dim')
    call must(nf90mpi_def_dim(file, 'time', nf90mpi_unlimited, time), 'def_dim')
    do k = 1, 7
      write (digit, '(i1)') k
      call must(nf90mpi_def_var(file, 'v'//digit, types(k), [x, y], v(k)), 'def_var')
    end do
    call must(nf90mpi_def_var(file, 'text', nf90_char, [x, y], text), 'def_var')
    call must(nf90mpi_def_var(file, 'plane', nf90_double, [x, y, time], plane), 'def_var')
    call must(nf90mpi_put_att(file, nf90_global, 'title', 'Fortran'), 'put_att')
    call must(nf90mpi_put_att(file, v(6), 'range', [0.0_real64, 1.5_real64]), 'put_att')
    call must(nf90mpi_enddef(file), 'enddef')

    start = [1_offset, 1 + rows_each*rank]
    count = [nx, rows_each]
    do j = 1, int(rows_each)
      do i = 1, int(nx)
        i4(i, j) = i + 10*j + mod(11*rank, 70)  ! fits into a byte
      end do
      letters(j) = repeat(achar(iachar('a') + mod(rank, 26)), int(nx))
    end do
    i1 = int(i4, int8); i2 = int(i4, int16); i8 = int(i4, int64); r4 = real(i4, real32); r8 = real(i4, real64)
    call must(nf90mpi_put_var_all(file, v(1), i8, start, count), 'byte from int64')
    call must(nf90mpi_put_var_all(file, v(2), r4, start, count), 'short from real32')
    call must(nf90mpi_put_var_all(file, v(3), i2, start, count), 'int from int16')
    call must(nf90mpi_put_var_all(file, v(4), r8, start, count), 'int64 from real64')
    call must(nf90mpi_put_var_all(file, v(5), i1, start, count), 'float from int8')
    call must(nf90mpi_put_var_all(file, text, letters, start, count), 'text')

    ! a subarray with ghost cells, as a derived type
    ghost = -1
    ghost(3:nx + 2, 2:rows_each + 1) = i4
    sizes = [int(nx) + 4, int(rows_each) + 2]; part = [int(nx), int(rows_each)]; first = [2, 1]
    call MPI_Type_create_subarray(2, sizes, part, first, MPI_ORDER_FORTRAN, MPI_INTEGER, derived, code)
    call MPI_Type_commit(derived, code)
    call must(nf90mpi_put_var_all(file, v(7), ghost, start, count, bufcount=1_offset, buftype=derived), 'subarray')
    call MPI_Type_free(derived, code)

    ! a section of an array, and by turns its other half; then transposed in memory
    wide(1::2, :) = r8
    wide(2::2, :) = -1
    stride = [2_offset, 1_offset]
    count(1) = nx/2
    call must(nf90mpi_put_var_all(file, v(6), wide(1:nx:2, :), start, count, stride), 'section')
    start(1) = 2
    call must(nf90mpi_put_var_all(file, v(6), wide(nx + 1::2, :), start, count, stride), 'section')
    start(1) = 1
    count(1) = nx
    turned = transpose(r8)
    map = [rows_each, 1_offset]
    do k = 1, int(steps)
      shifted = turned + k
      call must(nf90mpi_put_var_all(file, plane, shifted, [start, int(k, offset)], [count, 1_offset], &
                                    [1_offset, 1_offset, 1_offset], [map, 1_offset]), 'mapped')
    end do

    call must(nf90mpi_begin_indep_data(file), 'begin')
    do k = 1, 7
      if (k == 6) cycle
      back = 0
      call must(nf90mpi_get_var(file, v(k), back, start, count), 'get')
      call expect(all(back == i4), 'kind')
    end do
    call must(nf90mpi_put_var(file, plane, r8(:, 1), [start, steps + 1], [count(1), 1_offset, 1_offset]), 'independent')
    call must(nf90mpi_end_indep_data(file), 'end')
    call must(nf90mpi_get_var_all(file, v(6), back8, start, count), 'get')
    call expect(all(back8(1::2, :) == r8(1:nx/2, :)) .and. all(back8(2::2, :) == r8(nx/2 + 1:, :)), 'section')
    call must(nf90mpi_get_var_all(file, plane, back8, [start, 2_offset], [count, 1_offset]), 'get')
    call expect(all(back8 == r8 + 2), 'plane')
    call must(nf90mpi_inquire_dimension(file, time, len=start(1)), 'inquire')
    call expect(start(1) == steps + 1, 'number of records')
    call must(nf90mpi_close(file), 'close')
  end subroutine every_kind

  ! Lists of pieces, iput and bput, waited for together and one by one.
  subroutine nonblocking(path)
    character(*), intent(in) :: path
    integer(offset), parameter :: pieces = 4
    integer :: file, time, x, list, blocks, buffered, k, requests(2*steps), statuses(2*steps), n
    integer(offset) :: starts(2, pieces), counts(2, pieces), start(2), count(2), width
    real(real32) :: values(2*pieces), back(2*pieces)
    integer(int32) :: plain(nx, steps), temporary(nx), read_back(nx)

    width = nx*ranks
    call must(nf90mpi_create(MPI_COMM_WORLD, path, ior(nf90_clobber, nf90_64bit_offset), MPI_INFO_NULL, file), 'create')
    call must(nf90mpi_def_dim(file, 'x', width, x), 'def_dim')
    call must(nf90mpi_def_dim(file, 'time', nf90mpi_unlimited, time), 'def_dim')
    call must(nf90mpi_def_var(file, 'list', nf90_float, [x, time], list), 'def_var')
    call must(nf90mpi_def_var(file, 'blocks', nf90_int, [x, time], blocks), 'def_var')
    call must(nf90mpi_def_var(file, 'buffered', nf90_double, [x, time], buffered), 'def_var')
    call must(nf90mpi_enddef(file), 'enddef')

    ! pairs of elements, dealt out among the ranks, the last first
    do k = 1, int(pieces)
      starts(:, k) = [1 + 2*(ranks*(pieces - k) + rank), 1_offset]
      counts(:, k) = [2_offset, 1_offset]
      values(2*k - 1:2*k) = [real(100*rank + k), real(100*rank + k) + 0.5]
    end do
    call must(nf90mpi_put_varn_all(file, list, values, int(pieces), starts, counts), 'put_varn_all')
    starts(2, :) = 2
    call must(nf90mpi_iput_varn(file, list, values, requests(1), int(pieces), starts, counts), 'iput_varn')
    starts = -5  ! the caller's again
    call must(nf90mpi_wait_all(file, 1, requests(1:1), statuses(1:1)), 'wait_all')
    call must(statuses(1), 'status')

    call must(nf90mpi_buffer_attach(file, int(8*nx*steps, offset)), 'attach')
    n = 0
    do k = 1, int(steps)
      start = [1 + nx*rank, int(k, offset)]
      count = [nx, 1_offset]
      plain(:, k) = 1000*k + rank
      call must(nf90mpi_iput_var(file, blocks, plain(:, k), requests(n + 1), start, count), 'iput_var')
      n = n + 1
      if (rank == ranks - 1 .and. ranks > 1) cycle  ! ranks differ in their numbers of requests
      temporary = 2000*k + rank
      call must(nf90mpi_bput_var(file, buffered, temporary, requests(n + 1), start, count), 'bput_var')
      n = n + 1
      temporary = 0
    end do
    call must(nf90mpi_wait_all(file, n, requests(1:n), statuses(1:n)), 'wait_all')
    do k = 1, n
      call must(statuses(k), 'status')
    end do
    call must(nf90mpi_buffer_detach(file), 'detach')

    do k = 1, int(pieces)
      starts(:, k) = [1 + 2*(ranks*(pieces - k) + rank), 2_offset]
    end do
    call must(nf90mpi_get_varn_all(file, list, back, int(pieces), starts, counts), 'get_varn_all')
    call expect(all(back == values), 'list')
    do k = 1, int(steps)
      start(2) = k
      call must(nf90mpi_get_var_all(file, blocks, read_back, start, count), 'get')
      call expect(all(read_back == 1000*k + rank), 'blocks')
    end do
    call must(nf90mpi_close(file), 'close')
  end subroutine nonblocking

end program fortran90
