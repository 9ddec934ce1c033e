"""The platform's controller against itself and against people, in every order that is tried."""

import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from provision.operators.platform.deciding import (
    NAME_CONFLICT,
    READY,
    Report,
    is_right,
    owner_of,
)
from provision.operators.platform.reconciling import Reconciler
from tests.unit.provision.platform_world import NAME, World, controller, settle

NAMESPACES = ("team", "team-b", "team-c")

namespaces = st.sampled_from(NAMESPACES)
values = st.integers(0, 3)
doings = st.one_of(
    st.tuples(st.just("claim"), namespaces, values),
    st.tuples(st.just("set_value"), namespaces, values),
    st.tuples(st.just("delete"), namespaces),
    st.tuples(st.just("make_by_hand"), values),
    st.tuples(st.just("edit_by_hand"), values),
    st.tuples(st.just("delete_by_hand")),
    st.tuples(st.just("strip_by_hand")),
    # One of two controllers goes a step further, or is killed and begins anew.
    st.tuples(st.just("step"), st.integers(0, 1)),
    st.tuples(st.just("step"), st.integers(0, 1)),
    st.tuples(st.just("kill"), st.integers(0, 1)),
)


@settings(max_examples=400, deadline=None)
@given(st.lists(doings, max_size=40))
def test_whatever_happens_it_comes_to_rest_where_it_should(story):
    world = World()
    controllers = [controller(world), controller(world)]
    for what, *arguments in story:
        if what == "step":
            next(controllers[arguments[0]])
        elif what == "kill":
            controllers[arguments[0]] = controller(world)
        else:
            getattr(world, what)(*arguments)
    settle(world)
    judge(world)


def judge(world: World) -> None:
    claims, found = tuple(world.claims.values()), world.found
    assert not any(c.is_deleting for c in claims)
    assert all(c.standing and c.standing.generation == c.generation for c in claims)
    ready = [c for c in claims if c.standing.reason == READY]
    refused = [c for c in claims if c.standing.reason == NAME_CONFLICT]
    assert len(ready) + len(refused) == len(claims)
    if found is None:
        assert not claims
        return
    owner = owner_of(claims, found)
    assert ready == ([owner] if owner else [])
    assert owner is None or is_right(owner, found)
    assert (owner is None) == (found.uid in world.made_by_hand), "a class is left over"


def test_a_deed_on_what_was_read_before_its_claim_went_leaves_no_class():
    """One controller is late: it makes the class of a claim that another one has let go."""
    world = World()
    world.claim("team-b", 1)
    settle(world)
    world.delete_by_hand()
    late = controller(world)
    next(late)
    world.delete("team-b")
    settle(world)
    assert not world.claims
    next(late)
    assert world.found is not None, "it was late, but it was not refused"
    settle(world)
    assert world.found is None


def test_reconciler_tries_again_what_was_refused():
    class Busy(World):
        refusals = 2

        async def names(self):
            self.refuse()
            return await super().names()

        async def perform(self, deed):
            self.refuse()
            self.do(deed)
            if isinstance(deed, Report):
                self.is_told.set()

        def refuse(self):
            self.refusals, refused = max(0, self.refusals - 1), self.refusals
            if refused:
                raise TimeoutError

    async def work(world):
        world.is_told = asyncio.Event()
        reconciler = Reconciler(world)
        async with asyncio.timeout(10):
            await reconciler.begin()
            assert not world.refusals, "it began before it knew the names"
            world.refusals = 2
            world.claim("team-b", 1)
            reconciler.notice(NAME)
            task = asyncio.create_task(reconciler.run())
            await world.is_told.wait()
        task.cancel()

    world = Busy()
    asyncio.run(work(world))
    judge(world)
