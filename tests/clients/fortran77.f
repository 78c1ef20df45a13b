! The older interface: mpif.h, pnetcdf.inc and nfmpi_ functions.
      program fortran77
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer err, rank, ranks, wrong, all_wrong
      integer ncid, dims(2), temp, grid, i, k
      integer req(2), st(2)
      integer*8 width, start(2), count(2), attach, records
      integer numbers(6), back(6)
      real values(6)
      double precision days(6)

      call MPI_Init(err)
      call MPI_Comm_rank(MPI_COMM_WORLD, rank, err)
      call MPI_Comm_size(MPI_COMM_WORLD, ranks, err)
      wrong = 0
      width = 6 * ranks
      call must(nfmpi_create(MPI_COMM_WORLD, 'f77.nc', NF_CLOBBER,
     &                       MPI_INFO_NULL, ncid), wrong)
      call must(nfmpi_def_dim(ncid, 'x', width, dims(1)), wrong)
      call must(nfmpi_def_dim(ncid, 'time', nfmpi_unlimited, dims(2)),
     &          wrong)
      call must(nfmpi_def_var(ncid, 'temp', NF_FLOAT, 2, dims, temp),
     &          wrong)
      call must(nfmpi_def_var(ncid, 'grid', NF_INT, 1, dims, grid),
     &          wrong)
      call must(nfmpi_enddef(ncid), wrong)

      do i = 1, 6
         numbers(i) = 100 * rank + i
         values(i) = numbers(i) + 0.25
         days(i) = numbers(i) + 0.5d0
      end do
      start(1) = 1 + 6 * rank
      count(1) = 6
      count(2) = 1
      call must(nfmpi_put_vara_int_all(ncid, grid, start, count,
     &                                 numbers), wrong)
      attach = 1024
      call must(nfmpi_buffer_attach(ncid, attach), wrong)
      do k = 1, 3
         start(2) = 2 * k - 1
         call must(nfmpi_iput_vara_real(ncid, temp, start, count,
     &                                  values, req(1)), wrong)
         start(2) = 2 * k
         call must(nfmpi_bput_vara_double(ncid, temp, start, count,
     &                                    days, req(2)), wrong)
         call must(nfmpi_wait_all(ncid, 2, req, st), wrong)
         call must(st(1), wrong)
         call must(st(2), wrong)
      end do
      call must(nfmpi_buffer_detach(ncid), wrong)
      call must(nfmpi_inq_dimlen(ncid, dims(2), records), wrong)
      if (records .ne. 6) wrong = wrong + 1
      call must(nfmpi_get_vara_int_all(ncid, grid, start, count, back),
     &          wrong)
      do i = 1, 6
         if (back(i) .ne. numbers(i)) wrong = wrong + 1
      end do
      start(2) = 6
      call must(nfmpi_get_vara_real_all(ncid, temp, start, count,
     &                                  values), wrong)
      do i = 1, 6
         if (values(i) .ne. numbers(i) + 0.5) wrong = wrong + 1
      end do
      call must(nfmpi_close(ncid), wrong)
      call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM,
     &                   MPI_COMM_WORLD, err)
      if (rank .eq. 0) print *, 'wrong:', all_wrong
      call MPI_Finalize(err)
      if (all_wrong .ne. 0) stop 1
      end

      subroutine must(code, wrong)
      implicit none
      include 'mpif.h'
      include 'pnetcdf.inc'
      integer code, wrong
      if (code .eq. NF_NOERR) return
      print *, nfmpi_strerror(code)
      wrong = wrong + 1
      end
