// A conversation in which model, tool and user write text that a page might obey.

import type { Logged } from '../../../shared/view/logged.ts'
import { conversationLog, exec, response, result } from '../../shared/view/conversation-log.ts'

export const hostileTexts = [
  '</script><script>document.body.dataset.obeyed = 1</script>',
  '<img src=x onerror="document.body.dataset.obeyed = 2">',
  '<!-- <script>',
  ']]><svg onload="document.body.dataset.obeyed = 3">',
  "javascript:document.body.dataset.obeyed='4'",
  '\u202Egnp.exe\u2066 \u200b\ufeff',
  '\u0000\u0007\u001b[31mred\u009b0m\r\n\u2028',
  '\ud800 half',
  '__proto__ constructor',
  'x'.repeat(20_000),
]

export function hostileConversation(): Logged[] {
  const all = hostileTexts.join('\n')
  const log = conversationLog()
  const reply = response({
    text: all,
    calls: [exec({ id: all, name: hostileTexts[1] ?? '', raw: all })],
    stop: 'calls',
    finish: all,
  })
  const ended = result({ status: 'error', text: all, reason: all })
  log.begin({ text: all })
  log.ask(1, { nudge: all })
  log.attempt(1)
  log.attemptFailed(1, 'a0')
  log.answer(1, reply)
  log.check(1, reply)
  log.clear(1, reply.calls)
  log.claim(1, { owner: all })
  log.start(1)
  log.outcome(1, ended)
  log.executed(1, [ended])
  const intervention = {
    action: 'nudge',
    ordinary: false,
    rule: all,
    ruleVersion: 1,
    key: all,
    reason: all,
    text: all,
    class: null,
  } as const
  log.conclude(1, reply, [ended], { ...intervention, evidence: [{ round: 1, ordinal: 0 }] })
  log.end(all, { outcome: 'failed', reason: all })
  return log.records
}
