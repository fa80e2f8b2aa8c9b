import { describe, expect, it } from '@jest/globals'
import { logJudgements } from '../../../services/validator/log-judgements.ts'
import type { Message } from '../../../shared/contract/messages.ts'
import { createLog } from '../../../shared/lib/log/log.ts'
import { callOf, checked, exec, proposed, tool } from './round.ts'

const nothing = tool('nothing', { type: 'object' })
const none = callOf('', { name: 'nothing', problem: 'no_arguments' })
const round = proposed(
  [none, callOf('{"secret":1}', { ordinal: 1 }), callOf('{"command":"ls"}', { ordinal: 2 })],
  [exec, nothing],
)

describe('the log of judgements', () => {
  it('reports each call that runs with {} although nothing came', () => {
    expect(logged('info', checked(round))).toMatchObject([
      {
        level: 30,
        conversation: 'c',
        turn: 7,
        round: 2,
        ordinal: 0,
        name: 'nothing',
        msg: 'called without arguments: runs with {}',
      },
    ])
  })

  it('contains the reason of each denial at debug, and no arguments', () => {
    const lines = logged('debug', checked(round))
    expect(lines[1]).toMatchObject({
      level: 20,
      ordinal: 1,
      code: 'schema',
      reason: "missing required field 'command'",
      msg: 'call denied',
    })
    expect(JSON.stringify(lines)).not.toContain('secret')
    expect(lines).toHaveLength(2)
  })

  it('is silent about other records', () => {
    expect(logged('debug', round)).toEqual([])
  })
})

function logged(level: string, message: Message): unknown[] {
  const lines: string[] = []
  logJudgements(message, createLog({ level, destination: { write: (line) => lines.push(line) } }))
  return lines.map((line) => JSON.parse(line))
}
