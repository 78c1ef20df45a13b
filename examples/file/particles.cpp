// Particles of many cells, a record of its own length for each cell, by TCIO in C++: a call a record. Usage:
// file_particles FILE
#include <forebay/tcio.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Particle {
  double place[3];
  std::int64_t id;
};

int run(const std::string& path) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr int cells = 400;
  const auto particles_in = [](std::int64_t cell) { return static_cast<std::size_t>(1 + cell % 5); };
  const auto begin_of = [](std::int64_t cell) {  // in particles
    return cell / 5 * 15 + (cell % 5) * (cell % 5 + 1) / 2;
  };
  const auto make = [&](std::int64_t cell) {
    return std::vector<Particle>(particles_in(cell), Particle{{0.5, 0.25, 0.125}, cell});
  };

  // [tcio]
  using forebay::Mode;
  forebay::Tcio file(MPI_COMM_WORLD, path, Mode::read_write | Mode::create | Mode::truncate);
  for (std::int64_t cell = rank; cell < cells; cell += ranks) {
    const std::vector<Particle> particles = make(cell);
    file.write_at(begin_of(cell) * static_cast<std::int64_t>(sizeof(Particle)), particles);
  }
  file.flush();  // all ranks see it

  const std::int64_t neighbour = (rank + 1) % ranks;
  std::vector<Particle> ghosts(particles_in(neighbour));
  file.read_at(begin_of(neighbour) * static_cast<std::int64_t>(sizeof(Particle)), ghosts);
  file.fetch();  // now they are there
  file.close();
  // [tcio]
  return ghosts.back().id == neighbour ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int result = 1;
  try {
    result = run(argc > 1 ? argv[1] : "particles.dat");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return result;
}
