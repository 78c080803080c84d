"""What is left of a machine is read from its files: of the machine and of each group around the process, the least counts."""

from pathlib import Path

import pytest

from agentd.machine import gauges

MIB = 1 << 20
MEMINFO = "MemTotal:       16777216 kB\nMemFree:  1 kB\nMemAvailable:    8388608 kB\n"
V2 = "29 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
V1 = (
    "31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
    "35 30 0:32 {top} /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
)


def laid_out(root: Path, files: dict[str, str]) -> Path:
    for name, text in {"proc/meminfo": MEMINFO, **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def test_a_machine_without_groups_has_what_is_available(tmp_path: Path) -> None:
    found = gauges.read(laid_out(tmp_path, {"proc/loadavg": "0.00 0.01 0.05 1/99 1"}))
    assert (found.free_memory, found.total_memory) == (8192 * MIB, 16384 * MIB)
    assert (found.cpu_pressure, found.memory_pressure) == (0.0, 0.0)


@pytest.mark.parametrize("unlimited", ["max", "9223372036854771712"])
def test_the_tightest_of_the_groups_around_a_process_counts_and_files_it_read_are_free(
    tmp_path: Path, unlimited: str
) -> None:
    outer, inner = "sys/fs/cgroup/user", "sys/fs/cgroup/user/job"
    found = gauges.read(
        laid_out(
            tmp_path,
            {
                "proc/self/cgroup": "0::/user/job\n",
                "proc/self/mountinfo": V2,
                f"{outer}/memory.max": f"{400 * MIB}\n",
                f"{outer}/memory.current": f"{300 * MIB}\n",
                f"{outer}/memory.stat": f"anon 5\ninactive_file {60 * MIB}\nactive_file {9 * MIB}\n",
                f"{inner}/memory.max": f"{unlimited}\n",
                f"{inner}/memory.current": f"{100 * MIB}\n",
            },
        )
    )
    assert (found.free_memory, found.total_memory) == (160 * MIB, 400 * MIB)


def test_what_a_group_may_have_before_it_is_slowed_down_counts(tmp_path: Path) -> None:
    group = "sys/fs/cgroup/job"
    files = {"memory.max": "max", "memory.high": str(200 * MIB), "memory.current": "0"}
    about = {"proc/self/cgroup": "0::/job\n", "proc/self/mountinfo": V2}
    root = laid_out(tmp_path, {**about, **{f"{group}/{name}": text for name, text in files.items()}})
    assert gauges.read(root).free_memory == 200 * MIB


@pytest.mark.parametrize(
    ("top", "path", "group"),
    [("/", "/a/b", "memory/a/b"), ("/docker/x", "/docker/x/sub", "memory/sub"), ("/", "/../../not/seen", "memory")],
)
def test_groups_of_the_first_version_are_found_wherever_they_are_mounted(
    tmp_path: Path, top: str, path: str, group: str
) -> None:
    home = f"sys/fs/cgroup/{group}"
    found = gauges.read(
        laid_out(
            tmp_path,
            {
                "proc/self/cgroup": f"4:memory:{path}\n3:cpu,cpuacct:/\n1:name=systemd:/\n",
                "proc/self/mountinfo": V1.format(top=top),
                f"{home}/memory.limit_in_bytes": str(100 * MIB),
                f"{home}/memory.usage_in_bytes": str(90 * MIB),
                f"{home}/memory.stat": f"inactive_file 1\ntotal_inactive_file {30 * MIB}\n",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "100000",
                "sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000",
            },
        )
    )
    assert (found.free_memory, found.cores) == (40 * MIB, 1)


def test_a_group_over_its_limit_has_nothing_left(tmp_path: Path) -> None:
    about = {"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": V2}
    files = {"sys/fs/cgroup/memory.max": "10", "sys/fs/cgroup/memory.current": "11"}
    assert gauges.read(laid_out(tmp_path, {**about, **files})).free_memory == 0


@pytest.mark.parametrize("group", ["/", "/../../elsewhere"])
def test_the_higher_pressure_of_machine_and_group_counts(tmp_path: Path, group: str) -> None:
    some = "some avg10={} avg60=0.00 avg300=0.00 total=1\nfull avg10=99.00 avg60=0.00 avg300=0.00 total=0\n"
    found = gauges.read(
        laid_out(
            tmp_path,
            {
                "proc/self/cgroup": f"0::{group}\n",
                "proc/self/mountinfo": V2,
                "proc/loadavg": "900.0 1 1 1/1 1",
                "proc/pressure/cpu": some.format("12.50"),
                "proc/pressure/memory": some.format("3.00"),
                "sys/fs/cgroup/cpu.pressure": some.format("50.00"),
                "sys/fs/cgroup/memory.pressure": some.format("1.00"),
                "sys/fs/cgroup/cpu.max": "150000 100000",
            },
        )
    )
    assert (found.cpu_pressure, found.memory_pressure) == (0.5, 0.03)
    assert found.cores <= 2


def test_without_pressure_files_the_load_stands_for_it(tmp_path: Path) -> None:
    quota = {"proc/self/cgroup": "0::/\n", "proc/self/mountinfo": V2, "sys/fs/cgroup/cpu.max": "100000 100000"}
    half = gauges.read(laid_out(tmp_path, {**quota, "proc/loadavg": "1.50 1 1 1/1 1"}))
    assert (half.cores, half.cpu_pressure) == (1, 0.5)
    assert gauges.read(laid_out(tmp_path, {"proc/loadavg": "0.90 1 1 1/1 1"})).cpu_pressure == 0.0
    assert gauges.read(laid_out(tmp_path, {"proc/loadavg": "70.0 1 1 1/1 1"})).cpu_pressure == 1.0


def test_files_that_say_nothing_sensible_are_passed_over(tmp_path: Path) -> None:
    odd = {"proc/self/cgroup": "0::/\nnonsense:\n4:x:/\n", "proc/pressure/cpu": "some\n", "proc/self/mountinfo": V2}
    odd |= {"sys/fs/cgroup/memory.max": "lots", "sys/fs/cgroup/cpu.max": "max 0", "proc/loadavg": "x"}
    found = gauges.read(laid_out(tmp_path, odd))
    assert (found.free_memory, found.cpu_pressure) == (8192 * MIB, 0.0)
    assert found.cores >= 1


def test_this_machine_has_something_left() -> None:
    found = gauges.read()
    assert 0 < found.free_memory <= found.total_memory
    assert found.cores >= 1
    assert 0 <= found.cpu_pressure <= 1


def test_without_meminfo_the_system_is_asked(tmp_path: Path) -> None:
    assert 0 < gauges.read(tmp_path).free_memory <= gauges.read(tmp_path).total_memory
