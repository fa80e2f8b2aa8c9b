import { expect, it } from '@jest/globals'
import { codeOfDenial, codeOfWait } from '../../../client/guard/verdict-code.ts'
import { deniedCall } from '../../../services/executor/guards/guard-answer.ts'
import { deniedBeforeReason, skippedCall } from '../../../shared/contract/call/call-endings.ts'

const byGuard = (name: string) => {
  const verdict = { ordinal: 0, verdict: 'deny', code: 'no', text: 'No.', evidence: null } as const
  const { reason: code, guard = '' } = deniedCall(name, verdict)
  return { code, guard }
}
const byCheck = (code: string) => ({ code, guard: '' })

it.each([
  ['call.denied', byCheck('missing city')],
  ['call.denied', byCheck('vetoed by guard x: y')],
  ['guard.denied', byGuard('shell')],
  ['approval.denied', byGuard('approval')],
  ['turn.over', byCheck(skippedCall('cancelled').reason)],
  ['turn.over', byCheck(skippedCall('expired').reason)],
  ['guest.denied-before', byCheck(deniedBeforeReason)],
] as const)('gives the code %s to the denial %j', (code, denial) => {
  expect(codeOfDenial(denial)).toBe(code)
})

it.each([
  ['guest.pending', ''],
  ['guard.pending', 'shell'],
  ['guard.pending', 'shell, spend'],
  ['approval.pending', 'shell, approval'],
])('gives the code %s to a call that waits for "%s"', (code, guards) => {
  expect(codeOfWait(guards)).toBe(code)
})
