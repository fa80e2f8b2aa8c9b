// The records of a conversation with many rounds: mostly honest work, with a loop at the end.

import type { Logged } from '../../../shared/view/logged.ts'
import {
  conversationLog,
  exec,
  nudge,
  response,
  result,
} from '../../shared/view/conversation-log.ts'

/** One turn. `looping`: the number of last rounds with the same failing call. */
export function longConversation(rounds: number, looping: number): Logged[] {
  const log = conversationLog({ conversation: 'long' })
  log.begin({ text: 'Please go through all of the files.' })
  for (let round = 1; round <= rounds; round += 1) {
    const loops = round > rounds - looping
    const raw = loops
      ? '{"command":"make"}'
      : JSON.stringify({
          command: `sed -n ${round},${round + 40}p src/file-${round % 97}.ts`,
          reason: 'the next part',
        })
    const reply = response({
      attempt: `a${round}`,
      text: round % 7 === 0 ? 'I go on with the next part.' : '',
      calls: [exec({ id: `toolu_${round}`, raw })],
      stop: 'calls',
    })
    const ended = loops
      ? result({
          status: 'error',
          text: 'The tool failed with exit code 2.\nmake: *** No targets.',
          reason: 'make: *** No targets.',
        })
      : result({
          text: Array.from(
            { length: 12 },
            (_, line) => `${round + line}  const value${line} = ${round * line}`,
          ).join('\n'),
        })
    log.ask(round)
    log.attempt(round, reply.attempt)
    log.part(round, reply.attempt, `thinking of part ${round}`)
    log.answer(round, reply)
    log.check(round, reply)
    log.clear(round, reply.calls)
    log.claim(round)
    log.start(round)
    log.outcome(round, ended)
    log.executed(round, [ended])
    const evidence = [
      { round: round - 2, ordinal: 0 },
      { round: round - 1, ordinal: 0 },
      { round, ordinal: 0 },
    ]
    log.conclude(
      round,
      reply,
      [ended],
      loops && round > rounds - looping + 2
        ? { ...nudge, key: 'exec({"command":"make"})', evidence }
        : null,
    )
  }
  log.end('I could not finish.', { outcome: 'failed', reason: 'exec failed in the same way' })
  return log.records
}
