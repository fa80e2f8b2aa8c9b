"""Budgets: reserve, settle and release are records of one partition. Two gateways fold it.
A gateway decides from the records before its own reservation, and from nothing else."""
import sys
from collections import namedtuple
from explore import explore

# An attempt: (phase, the gateway that runs it, bound, actual use)
S = namedtuple('S', 'log attempts spent lost restarts')
BOUND, LIMIT = 3, 4

def fold(log, strict=True):
    """Grants by position: only the records before a reservation count."""
    granted, used, held = {}, 0, {}
    for at, (kind, n, amount) in enumerate(log):
        if kind == 'reserve':
            granted[n] = used + sum(held.values()) < LIMIT if strict else used < LIMIT
            if granted[n]: held[n] = amount
        elif kind == 'deadline' and n in held: used += held.pop(n)
        elif kind == 'settle' and n in held: held.pop(n); used += amount
        elif kind == 'release': held.pop(n, None)
    return granted, used + sum(held.values())

def steps(off, N, L, R):
    def go(s):
        for n, (phase, amount) in enumerate(s.attempts):
            def at(phase, **more): return s._replace(attempts=s.attempts[:n] + ((phase, amount),) + s.attempts[n + 1:], **more)
            if phase == 'new':
                if 'position' in off:      # check, then count: each gateway looks before it appends
                    may = fold(s.log)[1] < LIMIT
                    yield 'do', f'{n} looks and sees {"room" if may else "no room"}', at('looked' if may else 'refused')
                else: yield 'do', f'{n} reserves {BOUND}', at('reserved', log=s.log + (('reserve', n, BOUND),))
            if phase == 'looked': yield 'do', f'{n} reserves {BOUND}', at('granted', log=s.log + (('reserve', n, BOUND),))
            if phase == 'reserved':
                may = fold(s.log, strict='held' not in off)[0][n]
                yield 'do', f'{n} reads its reservation: {"granted" if may else "refused"}', at('granted' if may else 'refused')
            if phase == 'granted':
                for use in (1, BOUND): yield 'do', f'{n} uses {use}', s._replace(attempts=s.attempts[:n] + (('used', use),) + s.attempts[n + 1:], spent=s.spent + use)
                yield 'env', f'the provider refuses {n}', at('idle')
            if phase == 'used':
                yield 'do', f'{n} settles {amount}', at('done', log=s.log + (('settle', n, amount),))
                if s.lost < L: yield 'fault', f'the settle of {n} is lost', at('lost', lost=s.lost + 1)
            if phase == 'idle': yield 'do', f'{n} releases', at('done', log=s.log + (('release', n, 0),))
            if phase == 'lost':
                if 'lost' in off: yield 'do', f'the deadline of {n} releases it', at('done', log=s.log + (('release', n, 0),))
                else: yield 'do', f'the deadline of {n} passes', at('done', log=s.log + (('deadline', n, 0),))
            # Killed before or after its request: the next owner starts another attempt of the round.
            if phase in ('reserved', 'granted', 'used') and s.restarts < R:
                yield 'fault', f'the gateway of {n} is killed, another one starts the round again', at('lost', restarts=s.restarts + 1)._replace(attempts=at('lost').attempts + (('new', 0),))
    return go

def check(title, off=(), N=3, L=1, R=0):
    def broken(s):
        if s.spent >= LIMIT + BOUND: return f'{s.spent} used of {LIMIT}: more than one reservation above it'
        counted = fold(s.log)[1]
        if counted < s.spent: return f'{s.spent} used, and the log counts {counted}' if 'position' not in off and 'held' not in off else None
    def settled(s):
        open_ = [n for n, (phase, _) in enumerate(s.attempts) if phase not in ('done', 'refused')]
        if open_: return f'stuck: {open_}'
    return explore(title, S((), (('new', 0),) * N, 0, 0, 0), steps(frozenset(off), N, L, R), broken, settled)

if __name__ == '__main__':
    part = sys.argv[1] if len(sys.argv) > 1 else 'all'
    if part in ('all', 'holes'):
        check('left out: the position decides (check, then count)', off=['position'])
        check('left out: open reservations count', off=['held'])
        check('left out: a lost settle counts in full', off=['lost'])
    if part in ('all', 'fixed'):
        check('three parallel turns, a lost settle', N=3, L=1)
        check('two parallel turns, two gateways killed, a lost settle', N=2, L=1, R=2)
        check('four parallel turns', N=4, L=0)
