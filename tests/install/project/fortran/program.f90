program p
  use, intrinsic :: iso_fortran_env, only: int64
  use mpi_f08
  use forebay
  implicit none
  type(tcio_file) :: file
  character(len=1000) :: path
  integer :: rank
  call get_command_argument(1, path)
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call tcio_open(MPI_COMM_WORLD, path, ior(forebay_create, forebay_rdwr), MPI_INFO_NULL, file)
  call tcio_write_at(file, 4_int64*rank, rank)
  call tcio_close(file)
  call MPI_Finalize()
end program p
