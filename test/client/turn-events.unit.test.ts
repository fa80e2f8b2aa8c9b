import { describe, expect, it } from '@jest/globals'
import type { Activity } from '../../client/edge.ts'
import { createTurnEvents, type TurnEvent, type TurnEvents } from '../../client/turn-events.ts'
import type { Part } from '../../shared/contract/messages.ts'
import {
  callFinished,
  part,
  roundStarted,
  toolStarted,
  turnFinished,
  turnStarted,
} from '../support/activity.ts'

let ids = 0

/** All that is passed on, as far as these tests look at it. */
function heard(events: TurnEvents, ...records: (Activity | Part)[]): string[] {
  return records
    .flatMap((record) => {
      ids += 1
      return record.type === 'part'
        ? events.part(record)
        : events.activity({ id: `conversation/0/${ids}/0`, message: record })
    })
    .map(brief)
}

function brief(event: TurnEvent): string {
  return 'text' in event ? `${event.type} ${event.text}` : event.type
}

describe('the events of a turn', () => {
  it('are its activity, from the first to the turn-finished', () => {
    const events = createTurnEvents('m')
    const activity = [turnStarted(), roundStarted(), toolStarted(), callFinished(), turnFinished()]
    expect(heard(events, ...activity)).toEqual([
      'turn-started',
      'round-started',
      'tool-started',
      'call-finished',
      'turn-finished',
    ])
    expect(events.isOver).toBe(true)
    expect(heard(events, roundStarted())).toEqual([])
  })

  it('leave out other turns, but for one word that they are waited for', () => {
    const events = createTurnEvents('m')
    const earlier = [
      toolStarted(0, { turn: 3 }),
      callFinished(0, { turn: 3 }),
      turnFinished({ turn: 3, messageId: 'other' }),
    ]
    expect(heard(events, ...earlier, turnStarted(), roundStarted())).toEqual([
      'turn-waiting',
      'turn-started',
      'round-started',
    ])
    expect(
      heard(events, roundStarted(2, { turn: 9 }), turnFinished({ turn: 9, messageId: 'another' })),
    ).toEqual([])
  })

  it('say nothing of a wait when only the end of another turn is heard', () => {
    expect(heard(createTurnEvents('m'), turnFinished({ turn: 3, messageId: 'other' }))).toEqual([])
  })

  it('are one turn-finished for a message that opened no turn', () => {
    const events = createTurnEvents('m')
    expect(heard(events, turnFinished({ turn: 12, outcome: 'failed' }))).toEqual(['turn-finished'])
    expect(events.finished).toMatchObject({ outcome: 'failed' })
  })

  it('come once, however often a record was written', () => {
    const events = createTurnEvents('m')
    const twice = { id: 'conversation/0/1/0', message: turnStarted() }
    expect([...events.activity(twice), ...events.activity(twice)]).toHaveLength(1)
  })
})

describe('streamed text', () => {
  const started = () => {
    const events = createTurnEvents('m')
    heard(events, turnStarted(), roundStarted())
    return events
  }

  it('is passed on as it comes, neighbours of one kind put together', () => {
    const events = started()
    const first = part(0, [
      { kind: 'reasoning', text: 'hm' },
      { kind: 'reasoning_block', text: '{}' },
      'Let ',
      'me ',
    ])
    const second = part(1, [
      'look',
      { kind: 'call_start', name: 'exec', text: '' },
      { kind: 'call_arguments', text: '{}' },
    ])
    expect(heard(events, first, second)).toEqual([
      'reasoning-delta hm',
      'text-delta Let me ',
      'text-delta look',
    ])
  })

  it('begins anew with a new attempt of the round', () => {
    const events = started()
    const again = part(0, ['new'], { attempt: 'b' })
    expect(
      heard(
        events,
        part(0, ['old']),
        again,
        part(1, ['late']),
        part(1, [' text'], { attempt: 'b' }),
      ),
    ).toEqual(['text-delta old', 'text-reset', 'text-delta new', 'text-delta  text'])
  })

  it('needs no reset where the attempt before had no text', () => {
    const call = part(0, [{ kind: 'call_start', name: 'exec' }])
    expect(heard(started(), call, part(0, ['text'], { attempt: 'b' }))).toEqual(['text-delta text'])
  })

  it('says so when the new attempt has no text', () => {
    expect(
      heard(
        started(),
        part(0, ['old']),
        part(0, [{ kind: 'call_start', name: 'exec' }], { attempt: 'b' }),
      ),
    ).toEqual(['text-delta old', 'text-reset'])
  })

  it('needs no reset in the next round, and forgets the round before', () => {
    expect(
      heard(
        started(),
        part(0, ['one']),
        part(0, ['two'], { round: 2, attempt: 'b' }),
        part(1, ['late']),
      ),
    ).toEqual(['text-delta one', 'text-delta two'])
  })

  it('is left out where its beginning was not heard, until a new attempt', () => {
    expect(
      heard(
        started(),
        part(3, ['the middle']),
        part(4, ['the end']),
        part(0, ['all'], { attempt: 'b' }),
      ),
    ).toEqual(['text-delta all'])
  })

  it('comes once, however often a part was written', () => {
    expect(heard(started(), part(0, ['one']), part(0, ['one']), part(1, ['two']))).toEqual([
      'text-delta one',
      'text-delta two',
    ])
  })

  it('of other turns is left out', () => {
    expect(heard(started(), part(0, ['other'], { turn: 3 }))).toEqual([])
  })

  it('that is heard before the turn is known waits for it', () => {
    const events = createTurnEvents('m')
    expect(
      heard(
        events,
        part(0, ['early']),
        part(0, ['other'], { turn: 3 }),
        turnStarted(),
        part(1, ['!']),
      ),
    ).toEqual(['turn-started', 'text-delta early', 'text-delta !'])
  })
})

describe('the end of a turn', () => {
  it('that was cancelled waits for the calls that were running', () => {
    const events = createTurnEvents('m')
    const cancelled = turnFinished({ outcome: 'cancelled', class: 'cancelled' })
    expect(
      heard(events, turnStarted(), toolStarted(0), toolStarted(1), callFinished(0), cancelled),
    ).not.toContain('turn-finished')
    expect(events.finished).toMatchObject({ outcome: 'cancelled' })
    expect(
      heard(events, part(0, ['late']), callFinished(1, { status: 'outcome_unknown' })),
    ).toEqual(['call-finished', 'turn-finished'])
    expect(events.isOver).toBe(true)
  })

  it('comes without them when they are not waited for any longer', () => {
    const events = createTurnEvents('m')
    heard(
      events,
      turnStarted(),
      toolStarted(0),
      turnFinished({ outcome: 'cancelled', class: 'cancelled' }),
    )
    expect(events.endNow().map(brief)).toEqual(['turn-finished'])
    expect(events.endNow()).toEqual([])
  })

  it('cannot be had before it was heard', () => {
    expect(createTurnEvents('m').endNow()).toEqual([])
  })
})
