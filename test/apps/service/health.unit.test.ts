import { describe, expect, it } from '@jest/globals'
import { createHealth } from '../../../apps/service/health.ts'
import { createReadPartitions } from '../../../apps/service/read-partitions.ts'
import type { StageName } from '../../../shared/contract/topology.ts'

function healthOf(...names: StageName[]) {
  const partitions = createReadPartitions({ now: () => 0 })
  const health = createHealth(names, partitions)
  return {
    health,
    /** A partition of the validator's inbox whose log ended at 20 when it was assigned. */
    assign(partition: number, hasCaughtUp = () => true) {
      const about = {
        stage: 'validator' as const,
        topic: 'weir.rounds-proposed',
        partition,
        from: 5,
        done: 5,
        end: 20,
      }
      return partitions.add({ ...about, units: new Map(), hasCaughtUp })
    },
    started: (...joined: StageName[]) =>
      health.started(new Map(names.map((name) => [name, { joined: joined.includes(name) }]))),
  }
}

describe('a process that runs stages', () => {
  it('is alive and not ready before its stages start', () => {
    const { health } = healthOf('validator')
    expect(health.live).toEqual({ live: true, why: [] })
    expect(health.ready).toEqual({
      ready: false,
      phase: 'starting',
      why: ['validator has not joined its group yet'],
      stages: {
        validator: {
          ready: false,
          joined: false,
          partitions: {},
          why: ['validator has not joined its group yet'],
        },
      },
    })
  })

  it('is not ready while a stage has not joined, and names the stage', () => {
    const { health, started } = healthOf('validator', 'loop-detector')
    started('loop-detector')
    expect(health.ready).toMatchObject({
      ready: false,
      phase: 'running',
      why: ['validator has not joined its group or its partitions are changing'],
      stages: { validator: { ready: false }, 'loop-detector': { ready: true } },
    })
  })

  it('is not ready while it folds a partition, and shows the progress', () => {
    const { health, assign, started } = healthOf('validator')
    let hasCaughtUp = false
    assign(2)
    const folding = assign(1, () => hasCaughtUp)
    started('validator')
    folding.position = 9
    expect(health.ready).toMatchObject({
      ready: false,
      why: ['validator has not caught up in partition 1: it is at 9 of 20'],
      stages: { validator: { joined: true, partitions: { '1': 'at 9 of 20', '2': 'caught up' } } },
    })
    hasCaughtUp = true
    expect(health.ready).toMatchObject({
      ready: true,
      why: [],
      stages: { validator: { partitions: { '1': 'caught up', '2': 'caught up' } } },
    })
  })

  it('is ready as a group member without partitions', () => {
    const { health, started } = healthOf('validator')
    started('validator')
    expect(health.ready).toMatchObject({ ready: true, stages: { validator: { partitions: {} } } })
  })

  it('is unready and still alive at once after a signal', () => {
    const { health, assign, started } = healthOf('validator')
    assign(0)
    started('validator')
    health.stopping()
    expect(health.ready).toMatchObject({
      ready: false,
      phase: 'stopping',
      why: ['this process is stopping'],
    })
    expect(health.live.live).toBe(true)
  })

  it('remains stopping if its stages start after the signal', () => {
    const { health, started } = healthOf('validator')
    health.stopping()
    started('validator')
    expect(health.ready.phase).toBe('stopping')
  })

  it('is neither alive nor ready when a stage cannot go on, with the reason', () => {
    const { health, assign, started } = healthOf('validator')
    assign(0)
    started('validator')
    health.failed('validator', 'the disk is full')
    expect(health.live).toEqual({ live: false, why: ['validator cannot go on: the disk is full'] })
    expect(health.ready).toMatchObject({
      ready: false,
      why: ['validator cannot go on: the disk is full'],
    })
  })
})

describe('a process whose clock differs from the brokers', () => {
  const withSkew = (skewMs: number | undefined) => {
    const health = createHealth(['validator'], createReadPartitions({ now: () => 0 }), () => skewMs)
    health.started(new Map([['validator', { joined: true }]]))
    return health.ready
  }

  it.each([undefined, 0, 5_000, -5_000])('by %p milliseconds is ready', (skewMs) => {
    expect(withSkew(skewMs)).toMatchObject({ ready: true, why: [] })
  })

  it.each([
    [5_001, "this machine's clock is 5 s behind the brokers': set it by NTP"],
    [-3_600_000, "this machine's clock is 3600 s ahead of the brokers': set it by NTP"],
  ])('by %p milliseconds is not ready, with the reason', (skewMs, why) => {
    expect(withSkew(skewMs)).toMatchObject({ ready: false, why: [why] })
  })
})
