! A field of a structured grid in Fortran: a slab of z on each rank, without its ghosts; and cells by number.
! Usage: file_slabs
program slabs
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use mpi_f08
  use forebay
  implicit none
  integer, parameter :: nx = 30, ny = 20, nz = 4
  real(real64) :: u(0:nx + 1, 0:ny + 1, 0:nz + 1), row(nx)
  real(real64), asynchronous :: few(3), few_again(3)
  integer :: rank, ranks
  integer(int64) :: cells(2)
  type(forebay_file) :: file

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  u = rank
  few = [7, 8, 9]

  ! [put]
  call forebay_open(MPI_COMM_WORLD, "slabs.dat", ior(forebay_create, forebay_rdwr), MPI_INFO_NULL, file)
  call forebay_put_all(file, forebay_box([nx, ny, nz*ranks], start=[1, 1, rank*nz + 1]), u(1:nx, 1:ny, 1:nz))
  call forebay_get(file, forebay_box([nx, ny, nz*ranks], start=[1, 2, rank*nz + 1], count=[nx, 1, 1]), row)
  ! [put]
  if (maxval(abs(row - rank)) > 0.5) error stop "the row differs"

  ! [later]
  cells = [100, 200] + int(rank, int64)*nx*ny*nz
  call forebay_iput(file, cells, [2_int64, 1_int64], few)  ! two cells from 100 on, and cell 200
  call forebay_iget(file, cells, [2_int64, 1_int64], few_again)
  call forebay_wait_all(file)
  call forebay_close(file)
  ! [later]
  if (maxval(abs(few_again - few)) > 0.5) error stop "the cells differ"
  call MPI_Finalize()
end program slabs
