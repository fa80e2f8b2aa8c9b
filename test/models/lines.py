"""Lines: model requests to one provider's account. Gateways fold one log, and each computes the start of its requests.
A start needs no record. The provider refuses a request that comes too early, and names a wait. The second part has
places: a request that runs holds one."""
import sys
from functools import cache
from collections import namedtuple
from explore import explore

# A request: (phase, the tick of its start). seen: the records that each gateway has read.
S = namedtuple('S', 'log requests seen now wait faults late')
WAIT, END = 2, 9

def plan(log, off=()):
    """The start of each request, from records only. A wait holds requests that start after its record."""
    starts, free, closed, waiting = {}, 0, 0, []
    def advance(until):
        nonlocal free
        while waiting:
            n, since = waiting[0]
            at = max(since, closed, 0 if 'apart' in off else free)
            if at > until: return
            waiting.pop(0)
            starts[n], free = at, at + 1
    for kind, n, time in log:
        advance(time - 1)
        if kind == 'reserve': waiting.append((n, time))
        if kind == 'wait': closed = max(closed, time + WAIT)
    advance(10 ** 9)
    return starts

def steps(off, F):
    def go(s):
        due = False
        for n, (phase, _) in enumerate(s.requests):
            gateway = n % 2
            log = s.log[:s.seen[gateway]]
            if 'shared' in off: log = tuple(one for one in log if one[1] % 2 == gateway)
            def at(phase, tick=0, **more): return s._replace(requests=s.requests[:n] + ((phase, tick),) + s.requests[n + 1:], **more)
            if phase == 'new': yield 'do', f'{n} reserves at {s.now}', at('waiting', log=s.log + (('reserve', n, s.now),))
            if phase == 'waiting' and ('reserve', n) in [one[:2] for one in log]:
                start = plan(log, off)[n]
                if start <= s.now:
                    due = True
                    late = s.late + (start < s.now)
                    if s.wait > s.now and s.seen[gateway] < len(s.log): late += 1 # it has not read the wait yet
                    yield 'do', f'{n} starts at {s.now}', at('started', s.now, late=late)
                if s.faults < F:
                    yield 'fault', f'the gateway of {n} is gone', at('gone', faults=s.faults + 1)
            if phase == 'started' and s.requests[n][1] == s.now and s.wait == 0:
                wait = s.log + (('wait', n, s.now),)
                yield 'env', f'the provider refuses {n} at {s.now}', at('refused', s.now, log=wait, wait=s.now + WAIT)
        for gateway in (0, 1):
            if s.seen[gateway] < len(s.log):
                due = due or 'lag' not in off
                seen = s.seen[:gateway] + (s.seen[gateway] + 1,) + s.seen[gateway + 1:]
                yield 'do', f'gateway {gateway} reads {s.log[s.seen[gateway]]}', s._replace(seen=seen)
        phases = [phase for phase, _ in s.requests]
        if not due and ('new' not in phases or s.now < 2) and s.now < END and ('new' in phases or 'waiting' in phases):
            yield 'do', f'the time is {s.now + 1}', s._replace(now=s.now + 1)
    return go

def check(title, off=(), N=3, F=0):
    def broken(s):
        ticks = [tick for phase, tick in s.requests if phase in ('started', 'refused')]
        most = max((ticks.count(tick) for tick in ticks), default=0)
        if most > 1 + s.late: return f'{most} requests start at one time'
        early = [tick for phase, tick in s.requests if phase == 'started' and s.wait - WAIT < tick < s.wait]
        return f'a request starts within the wait: {early}' if len(early) > s.late else None
    def settled(s):
        open_ = [n for n, (phase, _) in enumerate(s.requests) if phase not in ('started', 'refused', 'gone')]
        return f'stuck: {open_}' if open_ else None
    return explore(title, S((), (('new', 0),) * N, (0, 0), 0, 0, 0, 0), steps(frozenset(off), F), broken, settled)

# Places: at most AT_ONCE requests run. A killed owner writes no end. The next owner of the round, if there is one,
# reserves under the name of the same request. A zombie is an owner that the next one has replaced already.
P = namedtuple('P', 'log requests now idle kills zombies')
AT_ONCE, LEASE, LONG = 1, 2, 3

@cache
def places(log, now, off):
    """The attempt that waits and the one that runs, by request. A start needs no record."""
    waiting, running, turn = [], {}, {}
    def advance(to):
        for name in [name for name, (_, lapses) in running.items() if lapses <= to]: del running[name]
        while waiting and len(running) < AT_ONCE:
            _, name, attempt = waiting.pop(0)
            running[name] = (attempt, to + LEASE)
    for position, (kind, n, attempt, time) in enumerate(log):
        for tick in range(log[position - 1][3] if position else 0, time + 1): advance(tick)
        name = (n, attempt) if 'request' in off else n
        if kind == 'settle':
            if running.get(name, (None,))[0] == attempt or ('newest' in off and name in running): del running[name]
            waiting = [one for one in waiting if one[1:] != (name, attempt)]
        elif kind == 'renew':
            if running.get(name, (None,))[0] == attempt: running[name] = (attempt, time + LEASE)
        else:
            running.pop(name, None)
            waiting = sorted([one for one in waiting if one[1] != name] + [(turn.setdefault(name, position), name, attempt)])
        advance(time)
    for tick in range(log[-1][3] if log else 0, now + 1): advance(tick)
    return running

def place_steps(off, K, orphans):
    def go(s):
        due = False
        running = places(s.log, s.now, off)
        for n, (phase, attempt, since, beat) in enumerate(s.requests):
            def to(phase, *records, attempt=attempt, since=since, beat=s.now, **more):
                log = s.log + tuple((kind, n, attempt, s.now) for kind in records)
                return s._replace(requests=s.requests[:n] + ((phase, attempt, since, beat),) + s.requests[n + 1:], log=log, **more)
            if phase == 'killed' or (phase == 'new' and 'new' not in [one[0] for one in s.requests[:n]]):
                due = True
                yield 'do', f'{n} reserves at {s.now}', to('waiting', 'reserve', attempt=attempt + 1)
            if phase == 'waiting' and running.get((n, attempt) if 'request' in off else n, (None,))[0] == attempt:
                due = True
                yield 'do', f'{n} starts at {s.now}', to('running', since=s.now, idle=0)
            if phase == 'running':
                late = s.now - since >= LONG
                due = due or late or ('renew' not in off and beat < s.now)
                if 'renew' not in off and beat < s.now: yield 'do', f'{n} renews at {s.now}', to('running', 'renew')
                elif late or s.now > since: yield 'do', f'{n} ends at {s.now}', to('ended', 'settle')
            if phase in ('waiting', 'running') and s.kills < K:
                yield 'fault', f'the owner of {n} is killed', to('gone' if orphans else 'killed', kills=s.kills + 1)
                if phase == 'running' and not orphans:
                    yield 'fault', f'the owner of {n} is a zombie', to('killed', kills=s.kills + 1, zombies=s.zombies + ((n, attempt),))
        for zombie in s.zombies:
            n, attempt = zombie
            yield 'env', f'the zombie of {n} ends', s._replace(zombies=tuple(one for one in s.zombies if one != zombie), log=s.log + (('settle', n, attempt, s.now),))
        phases = [phase for phase, *_ in s.requests]
        if not due and 'waiting' in phases + ['waiting'] * ('running' in phases):
            idle = s.idle + 1 if 'running' not in phases and 'waiting' in phases else 0
            yield 'do', f'the time is {s.now + 1}', s._replace(now=s.now + 1, idle=idle)
    return go

def check_places(title, off=(), N=3, K=0, orphans=False):
    """`orphans`: no next owner reserves again, as for the requests of a proxy."""
    def broken(s):
        phases = [phase for phase, *_ in s.requests]
        if phases.count('running') > AT_ONCE: return f'{phases.count("running")} requests run at once'
        # A request whose owner died while it waited starts too, and holds a place for its lease.
        bound = LEASE * K if orphans else 0
        return f'nothing runs for {s.idle} ticks, and a request waits' if s.idle > bound else None
    def settled(s):
        open_ = [n for n, (phase, *_) in enumerate(s.requests) if phase not in ('ended', 'gone')]
        return f'stuck: {open_}' if open_ else None
    return explore(title, P((), (('new', 0, 0, 0),) * N, 0, 0, 0, ()), place_steps(frozenset(off), K, orphans), broken, settled)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('left out: starts are apart (each waits as the provider says)', off=['apart'])
        check("left out: the other gateway's records count", off=['shared'])
        check_places('left out: the next owner reserves for the same request', off=['request'], N=2, K=1)
        check_places('left out: a long request renews its place', off=['renew'], N=2)
        check_places("left out: only the newest attempt's end counts", off=['newest'], N=2, K=1)
    if part in ('all', 'fixed'):
        check('three requests of two gateways', N=3)
        check('three requests, two of them without their gateway', N=3, F=2)
        check('two requests, the log is read late', off=['lag'], N=2)
        check_places('three requests, a place', N=3)
        check_places('two requests, a place, an owner killed', N=2, K=1)
        check_places('three requests, one of them killed without a next owner', N=3, K=1, orphans=True)
