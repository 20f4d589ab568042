// SPDX-License-Identifier: Apache-2.0
// One all-reduce as an MPI program, for SimGrid's SMPI: what the speed rows of scripts/bench
// simulator are held against. Prints the simulated seconds that it took.
//
//     smpirun ... allreduce ELEMENT-COUNT
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int element_count = std::atoi(argv[1]);
    std::vector<float> input(element_count, 1.0f);
    std::vector<float> sum(element_count);
    const double begin_s = MPI_Wtime();
    MPI_Allreduce(input.data(), sum.data(), element_count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    const double own_s = MPI_Wtime() - begin_s;
    if (rank == 0) {
        std::printf("%.15g\n", own_s);
    }
    MPI_Finalize();
}
