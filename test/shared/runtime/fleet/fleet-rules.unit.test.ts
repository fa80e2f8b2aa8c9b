import { describe, expect, it } from '@jest/globals'
import type { FleetMember } from '../../../../shared/bus/fleet/fleet-members.ts'
import { limits } from '../../../../shared/contract/limits.ts'
import { stageNames } from '../../../../shared/contract/topology.ts'
import {
  assertNeighbours,
  commonFormat,
  createFormatChoice,
} from '../../../../shared/runtime/fleet/fleet-rules.ts'

const member = (stage: string, format: number): FleetMember => ({
  group: `w.${stage}`,
  host: '10.0.0.7',
  process: `host/${format}`,
  weir: `0.${format}.0`,
  format,
  agents: undefined,
})
const whole = (format: number) => stageNames.map((stage) => member(stage, format))
const weirOf = (format: number) => (format === 3 ? '0.5.0' : undefined)

describe('two versions in one fleet', () => {
  it.each([
    [2, 1, [1]],
    [2, 2, [1, 2, 3]],
    [2, 3, [3]],
    [2, 3, []],
  ])(
    'of format %p run where format %p is in force and members read %j',
    (own, inForce, formats) => {
      const members = formats.map((format) => member('validator', format))
      expect(() => assertNeighbours({ own, inForce, members, weirOf })).not.toThrow()
    },
  )

  it('two formats after the one in force are refused, with the version between', () => {
    expect(() => assertNeighbours({ own: 2, inForce: 4, members: [], weirOf })).toThrow(
      expect.objectContaining({
        code: 'fleet.apart',
        message: expect.stringMatching(
          /writes record format 2, and format 4 is in force.*format 3 \(0\.5\.0\)/,
        ),
      }),
    )
  })

  it('two formats ahead of a live process are refused, with the process and the step', () => {
    const members = [member('validator', 2), member('executor', 1)]
    expect(() => assertNeighbours({ own: 3, inForce: 2, members, weirOf })).toThrow(
      expect.objectContaining({
        code: 'fleet.apart',
        message: expect.stringMatching(
          /host\/1 at 10\.0\.0\.7 \(Weir 0\.1\.0, group w\.executor\).*a version with format 2 first/,
        ),
      }),
    )
  })

  it('a log of an old format without live processes is not refused', () => {
    expect(() => assertNeighbours({ own: 4, inForce: 1, members: [], weirOf })).not.toThrow()
  })
})

describe('the newest common format', () => {
  it('is that of the oldest member, guards included', () => {
    expect(commonFormat(whole(3), 'w.')).toBe(3)
    expect(commonFormat([...whole(3), member('guard.deny', 1)], 'w.')).toBe(1)
  })

  it('is unknown while a stage has no member, because an older one may come back', () => {
    expect(commonFormat(whole(3).slice(1), 'w.')).toBeUndefined()
    expect(commonFormat([], 'w.')).toBeUndefined()
  })
})

describe('the format that a process sets', () => {
  const choiceOf = (own: number) => {
    const { next } = createFormatChoice(own)
    return (inForce: number, members: FleetMember[], now = 0) =>
      next({ inForce, members, topicPrefix: 'w.', now })
  }

  it('is the common one after all members knew it for the settling time without a break', () => {
    const next = choiceOf(3)
    const half = limits.fleetSettledMs / 2
    expect(next(1, whole(2))).toBeUndefined()
    expect(next(1, whole(2).slice(1), half)).toBeUndefined()
    expect(next(1, whole(2), 2 * half)).toBeUndefined()
    expect(next(1, whole(2), 3 * half)).toBeUndefined()
    expect(next(1, whole(2), 4 * half)).toBe(2)
  })

  it('is lowered at once when an older process joins, also while a stage has no process', () => {
    const joined = [...whole(3), member('validator', 2)]
    expect(choiceOf(3)(3, joined)).toBe(2)
    expect(choiceOf(3)(3, joined.slice(1))).toBe(2)
  })

  it('is never above the own one, and unchanged where the common one is in force', () => {
    const next = choiceOf(2)
    expect(next(2, whole(3))).toBeUndefined()
    expect(next(2, whole(3), 2 * limits.fleetSettledMs)).toBeUndefined()
    expect(next(2, [])).toBeUndefined()
  })
})
