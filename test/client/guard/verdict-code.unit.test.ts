import { expect, it } from '@jest/globals'
import { codeOfDenial, codeOfWait } from '../../../client/guard/verdict-code.ts'
import { deniedCall } from '../../../services/executor/guards/guard-answer.ts'
import { deniedBeforeReason } from '../../../services/guest/answers.ts'
import { skippedCall } from '../../../shared/contract/call/call-endings.ts'

const vetoBy = (guard: string) =>
  deniedCall(guard, { ordinal: 0, verdict: 'deny', code: 'no', text: 'No.', evidence: null }).reason

it.each([
  ['call.denied', 'missing city'],
  ['call.denied', 'the tool vetoed by guard x: y is unknown'],
  ['guard.denied', vetoBy('shell')],
  ['approval.denied', vetoBy('approval')],
  ['turn.over', skippedCall('cancelled').reason],
  ['turn.over', skippedCall('expired').reason],
  ['guest.denied-before', deniedBeforeReason],
])('gives the code %s to a refusal with the reason "%s"', (code, reason) => {
  expect(codeOfDenial(reason)).toBe(code)
})

it.each([
  ['guest.pending', ''],
  ['guard.pending', 'shell'],
  ['guard.pending', 'shell, spend'],
  ['approval.pending', 'shell, approval'],
])('gives the code %s to a call that waits for "%s"', (code, guards) => {
  expect(codeOfWait(guards)).toBe(code)
})
