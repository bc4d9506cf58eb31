import os

from pipelines.runtime.machine_size import available_cores, memory_bytes, threads_of


def test_a_process_has_a_thread_per_core_if_they_fit_in_memory():
    assert threads_of(1) == available_cores()
    assert threads_of(int(memory_bytes())) == 1


def test_memory_limit_of_a_container_is_respected(tmp_path):
    machine = memory_bytes(str(tmp_path))
    assert machine == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = tmp_path / "sys" / "fs" / "cgroup" / "memory.max"
    limit.parent.mkdir(parents=True)
    limit.write_text("max\n")
    assert memory_bytes(str(tmp_path)) == machine
    limit.write_text("100000000\n")
    assert memory_bytes(str(tmp_path)) == 100_000_000
