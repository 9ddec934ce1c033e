from __future__ import annotations

import socket

import pytest

from provision.errors import TargetError
from provision.local.ports import PortHolder, is_free

RANGE = (29500, 29519)


def test_ports_are_different_and_free():
    with PortHolder(*RANGE) as holder:
        ports = holder.choose(("a", "b", "c"), {}, seed="/place")
    assert len(set(ports.values())) == 3
    assert all(RANGE[0] <= p <= RANGE[1] and is_free(p) for p in ports.values())


def test_kept_port_is_kept_while_free():
    with PortHolder(*RANGE) as holder:
        assert holder.choose(("a",), {"a": 29519}, seed="x") == {"a": 29519}


def test_taken_port_gives_way():
    with socket.create_server(("127.0.0.1", 29519)), PortHolder(*RANGE) as holder:
        ports = holder.choose(("a", "b"), {"a": 29519, "b": 29518}, seed="x")
    assert ports["a"] != 29519
    assert ports["b"] == 29518


def test_two_holders_never_choose_the_same():
    with PortHolder(*RANGE) as one, PortHolder(*RANGE) as two:
        first = one.choose("abcd", {}, seed="same")
        second = two.choose("abcd", {}, seed="same")
    assert not set(first.values()) & set(second.values())


def test_full_range_is_said():
    with (
        PortHolder(29500, 29501) as holder,
        pytest.raises(TargetError, match="fewer than 3 are free") as caught,
    ):
        holder.choose("abc", {}, seed="x")
    assert "LAB_PORTS" in str(caught.value.next_move)


def test_port_in_time_wait_counts_as_free():
    with socket.create_server(("127.0.0.1", 29510)) as server:
        with socket.create_connection(("127.0.0.1", 29510)) as client:
            taken, _ = server.accept()
            taken.close()
            client.recv(1)
        assert not is_free(29510)
    assert is_free(29510)
