import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { type GivenCall, type GivenRound, given } from '../../../../client/testing/given-guard.ts'
import flowGuard from '../../../../services/guards/flow/guard.ts'
import type { FlowGuardOptions } from '../../../../services/guards/flow/options.ts'
import type { ToolHints } from '../../../../shared/contract/messages.ts'

function labelled(name: string, ...labels: string[]): GivenCall {
  const hints: ToolHints = {
    mutates: null,
    ignoreFields: [],
    loopKey: [],
    denial: null,
    client: false,
    once: null,
    labels,
  }
  return { name, hints }
}

const mail = labelled('read_mail', 'reads:private')
const web = labelled('web_fetch', 'reads:untrusted')
const post = labelled('post', 'sends:out')
const plain: GivenCall = { name: 'clock' }

const refusing = flowGuard()
const asking = flowGuard({ onMeeting: 'ask' })

/** The verdicts on the calls of the last round. */
function verdicts(guard: typeof refusing, ...rounds: GivenCall[][]): string {
  return given(guard, ...rounds)
    .verdicts.map(({ verdict }) => verdict)
    .join(' ')
}

describe('the flow guard', () => {
  it('passes calls while two of the three labels have met', () => {
    expect(verdicts(refusing, [mail], [web], [plain], [mail], [web])).toBe('allow')
    expect(verdicts(refusing, [mail], [post], [mail], [post])).toBe('allow')
    expect(verdicts(refusing, [web], [post], [post])).toBe('allow')
  })

  it.each([
    ['sends', [[mail], [web], [post]]],
    ['reads untrusted texts', [[mail], [post], [web]]],
    ['reads private data', [[post], [web], [mail]]],
  ])('refuses the call by which all three meet, also if it %s', (_, rounds) => {
    expect(verdicts(refusing, ...rounds)).toBe('deny')
  })

  it('counts the labels of callers and of agents that calls ask, in both directions', () => {
    const called = { conversation: 'call/test/0/1/0', turn: 9 }
    const denial = (...rounds: GivenRound[]) => given(refusing, ...rounds).verdicts[0]?.verdict
    expect(denial([mail], [web], { ...called, calls: [post] })).toBe('deny')
    expect(denial([mail], { ...called, calls: [web] }, [post])).toBe('deny')
    expect(denial([mail], { ...called, calls: [web] }, [mail])).toBe('allow')
  })

  it('names the calls that brought the labels, for the model and for people', () => {
    expect(given(refusing, [mail], [web], [post]).verdicts).toEqual([
      {
        ordinal: 0,
        verdict: 'deny',
        code: 'flow.meeting',
        text: 'In this conversation private data was read (read_mail), an untrusted text was read (web_fetch). post would now send data out: private data could leak by instructions in a text of others. Go on without this call, or tell the user.',
        evidence:
          'post brings sends:out after private data was read (read_mail), an untrusted text was read (web_fetch)',
      },
    ])
  })

  it('judges the calls of one round in their order', () => {
    expect(verdicts(refusing, [mail, web, post, plain])).toBe('allow allow deny allow')
    expect(verdicts(refusing, [post, web, mail, web])).toBe('allow allow deny allow')
  })

  it('refuses a tool that has all three labels at its first call', () => {
    const shell = labelled('shell', 'reads:private', 'reads:untrusted', 'sends:out')
    expect(verdicts(refusing, [shell])).toBe('deny')
  })

  it('counts no refused call, so two labels stay usable', () => {
    expect(verdicts(refusing, [mail], [web], [post], [mail])).toBe('allow')
    expect(verdicts(refusing, [mail], [web], [post], [post])).toBe('deny')
  })

  it('counts a call that it denied as a shadow, because that call ran', () => {
    const shadowed = { ...mail, enforced: false }
    expect(verdicts(refusing, [post], [web], [shadowed], [post])).toBe('deny')
    expect(verdicts(refusing, [post], [web], [shadowed], [mail])).toBe('allow')
  })

  it('requests approval instead, and again for each further call that sends', () => {
    expect(verdicts(asking, [mail], [web], [post])).toBe('ask')
    expect(verdicts(asking, [mail], [web], [post], [post])).toBe('ask')
  })

  it('requests approval again of a read that a person may have denied, and of a call that sends', () => {
    expect(verdicts(asking, [post], [web], [mail], [mail])).toBe('ask')
    expect(verdicts(asking, [post], [web], [mail], [post])).toBe('ask')
    expect(verdicts(asking, [post], [web], [mail], [web])).toBe('allow')
  })

  it('gives a repeated round the same verdicts', () => {
    const state = given(asking, [mail], [web, post]).state
    const again = given(
      { ...asking, judge: (_, round) => asking.judge(state, round) },
      [plain],
      [web, post],
    )
    expect(again.verdicts.map(({ verdict }) => verdict)).toEqual(['allow', 'ask'])
    expect(again.state).toEqual(state)
  })

  it('takes labels from its options too, for tools without any', () => {
    const guard = flowGuard({
      labels: {
        'mail_*': { reads: ['private', 'untrusted'] },
        mail_send: { sends: 'out' },
      },
    })
    expect(verdicts(guard, [{ name: 'mail_read' }])).toBe('allow')
    expect(verdicts(guard, [{ name: 'mail_read' }], [{ name: 'mail_send' }])).toBe('deny')
    expect(verdicts(guard, [{ name: 'mail_send' }])).toBe('deny')
  })

  it('never lets the three labels meet in the calls that it passes', () => {
    const call = fc.constantFrom(
      mail,
      web,
      post,
      plain,
      labelled('x', 'reads:private', 'sends:out'),
    )
    const rounds = fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { minLength: 1 })
    fc.assert(
      fc.property(rounds, (all) => {
        const passed = new Set<string>()
        let judged = given(refusing)
        for (const round of all) {
          judged = judged.when(round)
          for (const { ordinal, verdict } of judged.verdicts)
            if (verdict === 'allow')
              for (const label of round[ordinal]?.hints?.labels ?? []) passed.add(label)
        }
        expect(passed.size).toBeLessThan(3)
      }),
    )
  })
})

describe('the options of the flow guard', () => {
  it.each<[string, object, string]>([
    ['an unknown key', { label: {} }, 'did you mean labels?'],
    [
      'an unknown label',
      { labels: { x: { reads: 'secret' } } },
      'labels[\'x\'] is {"reads":"secret"}',
    ],
    ['a misspelt label', { labels: { x: { read: 'private' } } }, 'did you mean reads?'],
    ['labels that are none', { labels: { x: {} } }, "the flow guard's labels['x'] is {}"],
    ['another decision', { onMeeting: 'warn' }, "give it 'deny' or 'ask'"],
    ['no tools', { tools: [] }, "the flow guard's tools is []"],
    ['too long a memory', { rememberedHours: 721 }, 'give it hours from 1 to 720'],
  ])('with %s are refused', (_, options, error) => {
    expect(() => flowGuard(options as FlowGuardOptions)).toThrow(error)
  })
})
