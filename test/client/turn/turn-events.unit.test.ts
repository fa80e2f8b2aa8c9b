import { describe, expect, it } from '@jest/globals'
import type { Activity } from '../../../client/edge/edge.ts'
import type { TurnEvent } from '../../../client/turn/turn-event.ts'
import { createTurnEvents, type TurnEvents } from '../../../client/turn/turn-events.ts'
import type { Part } from '../../../shared/contract/messages.ts'
import {
  callFinished,
  part,
  roundStarted,
  toolStarted,
  turnFinished,
  turnStarted,
} from '../../support/activity.ts'

let ids = 0

/** The events that are passed on, in short. */
function eventsOf(events: TurnEvents, ...records: (Activity | Part)[]): string[] {
  return records
    .flatMap((record) => {
      ids += 1
      return record.type === 'part'
        ? events.part(record)
        : events.activity({ id: `conversation/0/${ids}/0`, offset: ids, message: record })
    })
    .map(brief)
}

function brief(event: TurnEvent): string {
  return 'text' in event ? `${event.type} ${event.text}` : event.type
}

describe('the events of a turn', () => {
  it('are its activity from the first record to turn-finished', () => {
    const events = createTurnEvents('m')
    const activity = [turnStarted(), roundStarted(), toolStarted(), callFinished(), turnFinished()]
    expect(eventsOf(events, ...activity)).toEqual([
      'turn-started',
      'round-started',
      'tool-started',
      'call-finished',
      'turn-finished',
    ])
    expect(events.isOver).toBe(true)
    expect(eventsOf(events, roundStarted())).toEqual([])
  })

  it('skip other turns except for one turn-waiting', () => {
    const events = createTurnEvents('m')
    const earlier = [
      toolStarted(0, { turn: 3 }),
      callFinished(0, { turn: 3 }),
      turnFinished({ turn: 3, messageId: 'other' }),
    ]
    expect(eventsOf(events, ...earlier, turnStarted(), roundStarted())).toEqual([
      'turn-waiting',
      'turn-started',
      'round-started',
    ])
    expect(
      eventsOf(
        events,
        roundStarted(2, { turn: 9 }),
        turnFinished({ turn: 9, messageId: 'another' }),
      ),
    ).toEqual([])
  })

  it('have no turn-waiting if only the end of another turn comes', () => {
    expect(eventsOf(createTurnEvents('m'), turnFinished({ turn: 3, messageId: 'other' }))).toEqual(
      [],
    )
  })

  it('are one turn-finished if the message opened no turn', () => {
    const events = createTurnEvents('m')
    expect(eventsOf(events, turnFinished({ turn: 12, outcome: 'failed' }))).toEqual([
      'turn-finished',
    ])
    expect(events.finished).toMatchObject({ outcome: 'failed' })
  })

  it('come once, however often a record was written', () => {
    const events = createTurnEvents('m')
    const twice = { id: 'conversation/0/1/0', offset: 1, message: turnStarted() }
    expect([...events.activity(twice), ...events.activity(twice)]).toHaveLength(1)
  })
})

describe('streamed text', () => {
  const started = () => {
    const events = createTurnEvents('m')
    eventsOf(events, turnStarted(), roundStarted())
    return events
  }

  it('comes in order, with neighbours of one kind joined', () => {
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
    expect(eventsOf(events, first, second)).toEqual([
      'reasoning-delta hm',
      'text-delta Let me ',
      'text-delta look',
    ])
  })

  it('begins again with a new attempt of the round', () => {
    const events = started()
    const again = part(0, ['new'], { attempt: 'b' })
    expect(
      eventsOf(
        events,
        part(0, ['old']),
        again,
        part(1, ['late']),
        part(1, [' text'], { attempt: 'b' }),
      ),
    ).toEqual(['text-delta old', 'text-reset', 'text-delta new', 'text-delta  text'])
  })

  it('has no reset if the attempt before had no text', () => {
    const call = part(0, [{ kind: 'call_start', name: 'exec' }])
    expect(eventsOf(started(), call, part(0, ['text'], { attempt: 'b' }))).toEqual([
      'text-delta text',
    ])
  })

  it('has a reset even if the new attempt has no text', () => {
    expect(
      eventsOf(
        started(),
        part(0, ['old']),
        part(0, [{ kind: 'call_start', name: 'exec' }], { attempt: 'b' }),
      ),
    ).toEqual(['text-delta old', 'text-reset'])
  })

  it('has no reset in the next round and ignores the round before', () => {
    expect(
      eventsOf(
        started(),
        part(0, ['one']),
        roundStarted(2),
        part(0, ['two'], { round: 2, attempt: 'b' }),
        part(1, ['late']),
      ),
    ).toEqual(['text-delta one', 'round-started', 'text-delta two'])
  })

  it('is skipped until a new attempt if its beginning is missing', () => {
    expect(
      eventsOf(
        started(),
        part(3, ['the middle']),
        part(4, ['the end']),
        part(0, ['all'], { attempt: 'b' }),
      ),
    ).toEqual(['text-delta all'])
  })

  it('comes once, however often a part was written', () => {
    expect(eventsOf(started(), part(0, ['one']), part(0, ['one']), part(1, ['two']))).toEqual([
      'text-delta one',
      'text-delta two',
    ])
  })

  it('is skipped if it belongs to another turn', () => {
    expect(eventsOf(started(), part(0, ['other'], { turn: 3 }))).toEqual([])
  })

  it('waits for its round if it comes before the round is known', () => {
    const events = createTurnEvents('m')
    expect(
      eventsOf(
        events,
        part(0, ['early']),
        part(0, ['other'], { turn: 3 }),
        turnStarted(),
        roundStarted(),
        part(1, ['!']),
      ),
    ).toEqual(['turn-started', 'round-started', 'text-delta early', 'text-delta !'])
  })
})

describe('the end of a turn', () => {
  it('waits for running calls if the turn was cancelled', () => {
    const events = createTurnEvents('m')
    const cancelled = turnFinished({ outcome: 'cancelled', class: 'cancelled' })
    expect(
      eventsOf(events, turnStarted(), toolStarted(0), toolStarted(1), callFinished(0), cancelled),
    ).not.toContain('turn-finished')
    expect(events.finished).toMatchObject({ outcome: 'cancelled' })
    expect(eventsOf(events, part(0, ['late']), callFinished(1, { status: 'unknown' }))).toEqual([
      'call-finished',
      'turn-finished',
    ])
    expect(events.isOver).toBe(true)
  })

  it('comes without the running calls after endNow', () => {
    const events = createTurnEvents('m')
    eventsOf(
      events,
      turnStarted(),
      toolStarted(0),
      turnFinished({ outcome: 'cancelled', class: 'cancelled' }),
    )
    expect(events.endNow().map(brief)).toEqual(['turn-finished'])
    expect(events.endNow()).toEqual([])
  })

  it('does not come from endNow before it is known', () => {
    expect(createTurnEvents('m').endNow()).toEqual([])
  })
})
