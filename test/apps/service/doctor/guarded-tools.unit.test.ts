import { expect, it } from '@jest/globals'
import { onceChecks } from '../../../../apps/service/doctor/guarded-tools.ts'
import type { GuardMode } from '../../../../shared/contract/messages.ts'
import { agentOf, tool } from '../../../services/llm-gateway/samples.ts'
import { noHints } from '../../../support/messages.ts'

const hints = {
  ...noHints,
  once: { by: ['invoice'], forMs: 1_000, within: 'conversation' as const },
}
const agents = new Map([
  ['agent', agentOf({ tools: [tool('read'), tool('pay', { hints }), tool('send', { hints })] })],
])
const once = (pattern: string, mode: GuardMode) => ({ name: 'once', tools: [{ pattern, mode }] })
const findings = (...guards: Parameters<typeof onceChecks>[1]) =>
  onceChecks(agents, guards).map(({ state, name, finding }) => `${state} ${name}: ${finding}`)

const unjudged = (name: string) =>
  `warning once: agent/${name} has once, and no guard once judges it, so no call of it runs`

it('a tool with once is reported if no guard once judges it, and a tool without once never is', () => {
  expect(findings()).toEqual([unjudged('pay'), unjudged('send')])
  expect(findings({ ...once('*', 'enforce'), name: 'spend' })).toHaveLength(2)
  expect(findings(once('send', 'enforce'))).toEqual([unjudged('pay')])
  expect(findings(once('*', 'enforce'))).toEqual([])
})

it('a tool with once is reported if the guard once is in shadow for it', () => {
  expect(findings(once('pay', 'shadow'), once('*', 'enforce'))).toEqual([
    'warning once: agent/pay has once, and the guard once only reports for it, so equal calls run twice',
    unjudged('send'),
  ])
})
