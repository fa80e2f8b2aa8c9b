// Questions of running tools in the approval stage: they wait like calls, and their answers have
// values.

import { describe, expect, it } from '@jest/globals'
import { approvalRound } from '../../../services/approval/approval-round.ts'
import { countedText } from '../../../services/approval/decision-texts.ts'
import { approval } from '../../../services/approval/reducer.ts'
import type { ApprovalAnswered } from '../../../shared/contract/messages.ts'
import { at, given } from '../../support/given.ts'
import {
  answer,
  approvalAsked,
  approvalOf,
  clearedAt,
  expiresAt,
  place,
  prod,
  withdrawal,
} from './samples.ts'

const schema = {
  type: 'object',
  properties: { seat: { enum: ['aisle', 'window'] }, meals: { type: 'integer', default: 1 } },
  required: ['seat'],
}
const question = JSON.stringify({ server: 's', message: 'Which\nseat?', mode: 'form', schema })
const asked = approvalAsked({ calls: [{ ...prod, question }], rules: '', input: 1 })
const tick = { type: 'tick', conversation: 'c', unit: '["c",7,2,"input",1]' } as const
const waiting = given(approval, at(clearedAt, asked))

function answered(fields: Partial<ApprovalAnswered> = {}): ApprovalAnswered {
  return answer({ input: 1, values: '{"seat":"aisle"}', ...fields }, asked)
}
const gave = { type: 'input-given', ...place, ordinal: 0, input: 1 }

describe('a question of a running tool', () => {
  it('waits under no rule, with its server and message on one line', () => {
    expect(waiting.to('activity')).toMatchObject([
      {
        type: 'approval-pending',
        until: expiresAt,
        calls: [{ name: 'deploy', question, rule: 'the server s asks: Which seat?' }],
      },
    ])
    expect(waiting.due).toBe(expiresAt)
  })

  it('is apart from the approvals of its round, and from its other questions', () => {
    const both = waiting.when(approvalAsked())
    expect(both.to('activity')).toMatchObject([{ calls: [{ rule: 'production' }] }])
    const next = { ...asked, input: 2 }
    const [first, second] = [asked, next].map((one) => approvalOf(approvalRound(one), 0).request.id)
    expect(second).not.toBe(first)
    expect(both.when(answered()).to('verdict')).toMatchObject([{ type: 'input-given' }])
  })

  it('is accepted with values that fit, and defaults fill the others', () => {
    const over = waiting.when(answered())
    expect(over.to('verdict')).toEqual([
      { ...gave, answer: 'accept', values: '{"meals":1,"seat":"aisle"}' },
    ])
    expect(over.to('activity')).toMatchObject([{ outcome: 'allow', by: 'ann' }])
    expect(over.state).toBeUndefined()
  })

  it.each([
    null,
    '{}',
    '{"seat":"roof"}',
    '{"seat":"aisle","x":1}',
    '[',
    '{"seat":"aisle","meals":1.5}',
  ])('stays open after the values %s of any writer of the topic', (values) => {
    const open = waiting.when(answered({ values }))
    expect(open.records).toEqual([])
    expect(open.when(answered()).to('verdict')).toMatchObject([{ answer: 'accept' }])
  })

  it('is declined by a denial, and cancelled when nobody answers', () => {
    const declined = waiting.when(answered({ answer: 'deny', values: null }))
    expect(declined.to('verdict')).toEqual([{ ...gave, answer: 'decline', values: '' }])
    const expired = waiting.when(at(expiresAt, tick))
    expect(expired.to('verdict')).toEqual([{ ...gave, answer: 'cancel', values: '' }])
    expect(expired.to('activity')).toMatchObject([{ outcome: 'expired' }])
  })

  it('gives no answer when it is withdrawn', () => {
    const gone = waiting.when({ ...withdrawal(0), input: 1 })
    expect(gone.to('verdict')).toEqual([])
    expect(gone.to('activity')).toMatchObject([{ outcome: 'withdrawn' }])
    expect(gone.state).toBeUndefined()
  })

  it('stays open when an approval of its round is withdrawn', () => {
    expect(waiting.when(withdrawal(0)).records).toEqual([])
    expect(waiting.when(withdrawal(0)).when(answered()).to('verdict')).toHaveLength(1)
  })

  it('has its own words for the author of the answer', () => {
    const request = approvalOf(approvalRound(asked), 0).request
    const by = { request, by: 'ann', identity: 'claimed' as const, at: 1 }
    expect(countedText({ kind: 'allow', ...by })).toContain('Answered')
    expect(countedText({ kind: 'deny', reason: '', ...by })).toContain('Declined')
  })

  it('that cannot be read is never accepted', () => {
    const broken = { ...asked, calls: [{ ...prod, question: '{"server":1}' }] }
    const open = given(approval, at(clearedAt, broken))
    const accepted = answer({ input: 1, values: '{}' }, broken)
    expect(open.when(accepted).records).toEqual([])
  })
})
