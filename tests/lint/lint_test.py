"""Each lint catches a bad sample and lets a good one pass."""
import subprocess
import tempfile
import unittest
from pathlib import Path

import images
import layers
import registration
import root_folder
import shape


class LintTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def given(self, name: str, text: str):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def expect(self, lint, *parts: str):
        """One violation per part, in order, each containing its part."""
        found = list(lint.violations(self.root))
        self.assertEqual(len(found), len(parts), found)
        for violation, part in zip(found, parts):
            self.assertIn(part, violation)

    # Layers

    def given_layer(self, layer: str, *sources: str):
        self.given(f"src/{layer}/CMakeLists.txt", f"cpt_add_layer({layer}\n  SOURCES {' '.join(sources)})\n")

    def test_includes_downward_are_fine(self):
        self.given("src/app/dist/main.cpp", '#include "train/trainer.h"\n#include "comm/mpi/mpi.h"\nint x = MPI_Init();\n')
        self.given("src/app/cpt/synth.cpp", '#include "synthetic/web_ads.h"\n#include "api/model_files.h"\n')
        self.given("src/train/trainer.cpp", '#include "comm/buffer.h"\n#include "api/model_files.h"\n#include <vector>\n')
        self.given("src/api/model.cpp", '#include "model/tree/tree.h"\n#include "cpt/error.h"\n')
        self.given("src/comm/mpi/mpi.cpp", "#include <boost/mpi.hpp>\n#include <mpi.h>\n")
        self.given("include/cpt/error.h", '#include <string>\n#include "cpt/hashing.h"\n')
        self.expect(layers)

    def test_includes_upward_and_sideways_are_found(self):
        self.given("src/core/a.cpp", '\n#include "model/tree.h"\n')
        self.given("src/model/b.h", '#include "data/parser.h"\n')
        self.given("src/store/c.cpp", '#include "durable_file.h"\n')
        self.expect(layers, "a.cpp:2: includes model/tree.h", "model may include only core, model", "not a layer")

    def test_comm_is_for_train_and_cpt_dist_alone(self):
        self.given("src/api/a.cpp", '#include "comm/communicator.h"\n')
        self.given("src/app/cpt/b.cpp", '#include "comm/mpi/mpi.h"\n#include "train/trainer.h"\n')
        self.given("src/app/shared/c.cpp", '#include "comm/communicator.h"\n')
        self.expect(layers, "api may include only", "app/cpt may include only", "app/cpt may include only",
                    "app may include only")

    def test_the_python_module_is_built_on_api(self):
        self.given_layer("python", "binding/a.cpp")
        self.given("src/python/binding/a.cpp", '#include "api/x.h"\n#include "train/y.h"\n')
        self.given("src/app/shared/b.cpp", '#include "python/binding/a.h"\n')
        self.expect(layers, "app may include only", "includes train/y.h: python may include only")

    def test_synthetic_is_for_cpt_alone(self):
        self.given("src/app/dist/a.cpp", '#include "synthetic/web_ads.h"\n')
        self.expect(layers, "app/dist may include only")

    def test_folders_of_a_layer_include_those_listed_before_them(self):
        self.given_layer("model", "tree/a.cpp", "b.cpp", "weights/row/c.cpp")
        self.given("src/model/b.cpp", '#include "model/tree/a.h"\n#include "model/b.h"\n')
        self.given("src/model/weights/row/c.cpp", '#include "model/tree/a.h"\n#include "model/b.h"\n')
        self.expect(layers)

    def test_folders_of_a_layer_that_include_later_ones_are_found(self):
        self.given_layer("model", "tree/a.cpp", "b.cpp", "weights/row/c.cpp")
        self.given("src/model/b.cpp", '#include "model/weights/row/c.h"\n')
        self.given("src/model/tree/a.cpp", '#include "model/b.h"\n')
        self.given("src/model/unlisted/d.h", '#include "model/b.h"\n')
        self.expect(layers, "'weights/row' comes after '.'", "'.' comes after 'tree'", "no source in folder 'unlisted'")

    def test_include_in_a_comment_is_no_include(self):
        self.given("src/core/a.cpp", '/*\n#include "app/main.h"\n*/\n// #include "app/main.h"\n')
        self.expect(layers)

    def test_public_headers_name_no_library_and_no_layer(self):
        self.given("include/cpt/a.h", '#include <spdlog/spdlog.h>\n#include "core/checked.h"\n')
        self.expect(layers, "spdlog/spdlog.h: a public header", "core/checked.h: a public header")

    def test_mpi_stays_in_its_folder(self):
        self.given_layer("comm", "mpi/send.cpp", "threads/a.cpp")
        self.given("src/comm/mpi/send.h", "#include <mpi.h>\n")
        self.given("src/comm/mpi/send.cpp", '#include "comm/mpi/send.h"\n#include <mpi.h>\n')
        self.given("src/comm/threads/a.cpp", '#include "comm/mpi/send.h"\n#include <mpi.h>\n')
        self.expect(layers, "a.cpp:1: includes comm/mpi/send.h: only", "a.cpp:2: includes mpi.h: only")

    def test_mpi_stays_in_its_layer(self):
        self.given("src/train/b.cpp", "#include <boost/mpi/communicator.hpp>\n")
        self.given("src/train/c.cpp", 'void f() { MPI_Abort(w, 1); }  // MPI_Init\nconst char* s = "MPI_Init";\n')
        self.expect(layers, "boost/mpi/communicator.hpp: only", "c.cpp:1: MPI_Abort")

    def test_only_the_app_ends_the_process(self):
        self.given("src/app/main.cpp", "void f() { std::exit(1); }\n")
        self.given("src/data/a.cpp", "void f() { std::exit(1); }\nvoid g() { on_exit(1); x.abort(); }\n")
        self.expect(layers, "src/data/a.cpp:1: std::exit")

    # Shape

    def test_a_header_is_guarded_and_opens_no_namespace(self):
        self.given("src/core/good.h", "#pragma once\nusing std::size_t;  // not using namespace std\n")
        self.given("src/core/bad.h", "using namespace std;\n")
        self.expect(shape, "no #pragma once", "bad.h:1: using namespace")

    def test_files_are_named_by_an_idea(self):
        self.given("src/core/string_utils.cpp", "")
        self.given("src/core/utility_function.cpp", "")
        self.expect(shape, "string_utils.cpp")

    def test_long_files_are_found(self):
        self.given("src/core/just.cpp", "\n" * shape.MAX_FILE_LINES)
        self.given("src/core/over.cpp", "\n" * (shape.MAX_FILE_LINES + 1))
        self.expect(shape, "over.cpp: 501 lines")

    def test_long_functions_are_found_in_namespaces_and_classes(self):
        def function(lines):
            return "void f(int a) {\n" + "  if (a) { g('{', 1'000, \"}\"); }  // {\n" * (lines - 2) + "}\n"

        longest = shape.MAX_FUNCTION_LINES
        self.given("src/core/just.cpp", "namespace cpt {\n" + function(longest) + "}\n")
        self.given("src/core/over.cpp", "namespace cpt {\n" + function(longest + 1) + function(3) + "}\n")
        self.given("tests/core/over_test.cpp", "class A {\n public:\n" + function(longest + 2) + "};\n")
        self.expect(shape, "src/core/over.cpp:2: a function of 81 lines", "over_test.cpp:3: a function of 82 lines")

    def test_a_long_class_is_no_long_function(self):
        methods = "  void f() {}\n" * 200
        self.given("src/core/a.h", "#pragma once\ntemplate <typename T>\nstruct A {\n" + methods + "};\n")
        self.expect(shape)

    # Registration

    def test_every_source_belongs_to_a_target(self):
        self.given("tests/CMakeLists.txt", "add_subdirectory(core)")
        self.given("tests/core/CMakeLists.txt", "cpt_add_tests(core SOURCES a_test.cpp my_b_test.cpp)\n# c_test.cpp\n")
        for name in ("a_test.cpp", "b_test.cpp", "c_test.cpp", "fixture.cpp"):
            self.given(f"tests/core/{name}", "")
        self.given("src/core/d.cpp", "")
        self.expect(registration, "src/core/d.cpp", "tests/core/b_test.cpp", "tests/core/c_test.cpp")

    def test_sources_in_subfolders_are_named_with_their_folder(self):
        self.given("src/model/CMakeLists.txt", "cpt_add_layer(model SOURCES tree/a.cpp b.cpp)\n")
        self.given("src/model/tree/a.cpp", "")
        self.given("src/model/tree/b.cpp", "")
        self.expect(registration, "src/model/tree/b.cpp: belongs to no target of src/model/CMakeLists.txt")

    def test_every_folder_of_tests_runs(self):
        self.given("CMakeLists.txt", "add_subdirectory(tests/bench)\n")
        self.given("tests/CMakeLists.txt", "foreach(folder core) # forgotten\n")
        for folder in ("core", "bench", "forgotten"):
            self.given(f"tests/{folder}/CMakeLists.txt", "")
        self.given("tests/bare/run.py", "")
        self.expect(registration, "tests/bare: has no CMakeLists.txt", "tests/forgotten: tests/CMakeLists.txt does not list")

    def test_no_test_is_switched_off(self):
        self.given("tests/CMakeLists.txt", "add_subdirectory(core)")
        self.given("tests/core/CMakeLists.txt", "a_test.cpp")
        self.given("tests/core/a_test.cpp", "// #if 0\nTEST(A, DISABLED_b) {}\n#if 0\n#endif\n")
        self.expect(registration, "a_test.cpp:2", "a_test.cpp:3")

    # Root folder

    def test_strangers_in_the_root_are_found(self):
        for name in ("README.md", ".gitignore", "src/core/a.cpp", "notes.txt"):
            self.given(name, "")
        self.expect(root_folder, "notes.txt")

    # Files that git ignores

    def test_what_git_ignores_is_not_looked_at(self):
        subprocess.run(["git", "init", "--quiet"], cwd=self.root, check=True)
        self.given(".gitignore", "/src/python/build/\n/ads/\n")
        self.given("src/core/CMakeLists.txt", "a.cpp\n")
        self.given("src/core/a.cpp", "")
        for name in ("src/python/build/compiler_id.cpp", "ads/train/part-000.vw"):
            self.given(name, '#include "app/x.h"\n' + "\n" * shape.MAX_FILE_LINES)
        for lint in (layers, shape, registration, root_folder):
            self.expect(lint)
        self.given("src/core/b.cpp", "")  # not yet added
        self.expect(registration, "src/core/b.cpp")

    # Images

    DOCKERFILE = """FROM debian:12 AS build
COPY src src
FROM debian:12
COPY --from=build /a /b
USER 1000
"""
    APPTAINER = """Bootstrap: docker
Stage: build
%files
    src /src
%files from build
    /a /b
"""
    POD = """
      template:
        spec:
          securityContext: {runAsUser: 1000}
          containers: [{env: [{name: RANKS, value: "2"}], command: [mpirun, -n, $(RANKS)]}]"""
    JOB = f"""kind: MPIJob
spec:
  slotsPerWorker: 2
  mpiReplicaSpecs:
    Launcher:{POD}
    Worker:
      replicas: 1{POD}
"""

    def given_images(self, dockerfile=DOCKERFILE, apptainer=APPTAINER, job=JOB):
        self.given("src/core/a.cpp", "")
        self.given(images.DOCKERFILE, dockerfile)
        self.given(images.APPTAINER, apptainer)
        self.given(images.JOB, job)

    def test_images_that_fit(self):
        self.given_images()
        self.expect(images)

    def test_images_of_what_is_not_there(self):
        self.given_images(dockerfile=self.DOCKERFILE.replace("COPY src", "COPY sources").replace("=build", "=built"))
        self.expect(images, "Dockerfile: no sources", "Dockerfile: no stage built")
        self.given_images(apptainer=self.APPTAINER.replace(" src ", " sources ").replace("from build", "from built"))
        self.expect(images, "apptainer.def: no sources", "apptainer.def: no stage built")

    def test_words_that_images_do_not_know(self):
        self.given_images(self.DOCKERFILE + "INSTALL x\n", self.APPTAINER + "%start\n")
        self.expect(images, "Dockerfile: INSTALL is none of", "apptainer.def: %start is none of")

    def test_jobs_that_do_not_fit_their_workers_or_their_image(self):
        self.given_images(job=self.JOB.replace("slotsPerWorker: 2", "slotsPerWorker: 3"))
        self.expect(images, "RANKS is 2, the workers have 3 slots")
        self.given_images(job=self.JOB.replace("$(RANKS)", "$(RANK)"))
        self.expect(images, "sets ['RANKS'], uses ['RANK']")
        self.given_images(self.DOCKERFILE.replace("1000", "1001"))
        self.expect(images, "Launcher does not run as the image's user", "Worker does not run as the image's user")
        self.given_images(job="kind: [")
        self.expect(images, "kubernetes.yaml: ")


if __name__ == "__main__":
    unittest.main()
