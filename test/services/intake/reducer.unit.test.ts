import { describe, expect, it } from '@jest/globals'
import { intake } from '../../../services/intake/reducer.ts'
import type { CancelRequested } from '../../../shared/contract/messages.ts'
import { topicOf } from '../../../shared/contract/topology.ts'
import { given } from '../../support/given.ts'
import { userMessage } from '../../support/messages.ts'

const cancel: CancelRequested = { type: 'cancel-requested', conversation: 'c', messageId: 'm' }

describe('a message of a client', () => {
  it.each([userMessage(), cancel])('is copied to the conversation as it is: $type', (message) => {
    expect(given(intake).when(message).records).toEqual([{ to: 'conversation', message }])
  })

  it('goes to the inbox of guests if it cancels one of them, and a user message never does', () => {
    const guest = { conversation: 'guest:a:1' }
    expect(topicOf('intake', 'conversation', cancel)).toBe('conversation-events')
    expect(topicOf('intake', 'conversation', { ...cancel, ...guest })).toBe('guest-events')
    expect(topicOf('intake', 'conversation', userMessage(guest))).toBe('conversation-events')
  })

  it('reaches the conversation also if the copy fails, so its turn can fail', () => {
    const record = { message: userMessage(), offset: 0, previous: undefined, time: 1 }
    expect(intake.failed(undefined, record, 'it threw').records).toEqual([
      { to: 'conversation', message: record.message },
    ])
  })
})
