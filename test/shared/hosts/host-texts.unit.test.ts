// Texts that a host writes in the name of its user.

import { describe, expect, it } from '@jest/globals'
import { historyOf } from '../../../client/guard/history/history.ts'
import { isHostText } from '../../../shared/hosts/hosts.ts'
import { requestOf, saidCall, saidText, type Turn } from '../../support/guest-requests.ts'

const ofCline =
  '[SYSTEM] This run is not complete until you call one of these terminal completion tools: submit_and_exit. Continue working.'

describe('a text of a host in a message of the user', () => {
  it('is known by its words in a request that no header names, and in those of its own host', () => {
    expect(isHostText(undefined, ofCline)).toBe(true)
    expect(isHostText('cline', ofCline)).toBe(true)
    const ofGptme =
      '<system>No tool call detected in last message. Did you mean to finish?</system>'
    expect(isHostText(undefined, ofGptme)).toBe(true)
    expect(isHostText('claude-code', ofCline)).toBe(false)
    expect(isHostText(undefined, `What does "${ofCline}" mean?`)).toBe(false)
  })

  it('opens no turn, and ends the response before it', () => {
    const first: Turn = {
      user: 'Go.',
      responses: [saidCall('read', { n: 1 }, { result: 'one' }), saidText('Done.')],
    }
    const before = historyOf(requestOf('openai-chat', [first]))
    const reminded = { user: ofCline, responses: [saidCall('read', { n: 2 })] }
    const after = historyOf(requestOf('openai-chat', [first, reminded]))
    expect(after.turnKey).toBe(before.turnKey)
    expect(after.rounds).toHaveLength(3)
    expect(after.rounds.slice(0, 2).map(({ key }) => key)).toEqual(
      before.rounds.map(({ key }) => key),
    )
  })

  it('leaves the text of the user as it is after an answer that the history does not show', () => {
    const plain = historyOf(requestOf('openai-chat', [{ user: 'Go.', responses: [] }]))
    const both = [
      { user: 'Go.', responses: [] },
      { user: ofCline, responses: [] },
    ]
    expect(historyOf(requestOf('openai-chat', both)).turnKey).toBe(plain.turnKey)
  })
})
