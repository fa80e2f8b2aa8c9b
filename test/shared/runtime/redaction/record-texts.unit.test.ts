// The texts of records that the rules of a redaction search.

import { expect, it } from '@jest/globals'
import { defaultSettings } from '../../../../shared/agents/policy/policy.ts'
import { textsIn } from '../../../../shared/runtime/redaction/record-texts.ts'

it('include the instructions that a question adds, as texts of the user', () => {
  const settings = { ...defaultSettings, system: 'The customer is Ada.' }
  const message = { type: 'user-message', messageId: 'm', text: 'Hi', settings }
  expect([...textsIn(message, new Map())]).toEqual([
    { place: 'user', tool: '', text: 'Hi' },
    { place: 'user', tool: '', text: 'The customer is Ada.' },
  ])
})
