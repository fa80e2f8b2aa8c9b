// The index of a page that holds several conversations.

import { count, instant, took } from '../../terminal/quantities.ts'
import type { IndexEntry, ReportIndex } from './data.ts'
import { element } from './element.ts'
import { phrases } from './words.ts'

export function indexView({ conversations, source, madeAt }: ReportIndex): HTMLElement {
  const bad = conversations.filter(({ tone, place }) => tone === 'bad' && place !== null).length
  const listed = conversations.filter(({ place }) => place === null).length
  return element(
    'main',
    { class: 'index' },
    element(
      'p',
      { class: 'origin' },
      element('span', { class: 'wordmark' }, 'weir report'),
      element('span', {}, `read from ${source}, ${instant(madeAt).slice(0, 16)}`),
    ),
    element(
      'h1',
      { class: 'sentence' },
      `${count(conversations.length, 'conversation')}, ${bad === 0 ? 'none of which' : bad === 1 ? 'one of which' : `${bad} of which`} ended badly.`,
    ),
    element('ol', { class: 'conversations' }, conversations.filter(({ place }) => place !== null).map(entry)),
    listed > 0 && element('h2', {}, `${count(listed, 'further conversation')}: weir report --conversation ID shows one`),
    listed > 0 &&
      element(
        'ul',
        { class: 'listed' },
        conversations.filter(({ place }) => place === null).map(({ conversation }) => element('li', {}, element('code', {}, conversation))),
      ),
  )
}

function entry({ conversation, sentence, tone, turns, rounds, from, to, place }: IndexEntry): HTMLElement {
  const lasted = from === null || to === null ? '' : `, ${instant(from).slice(0, 19)}, ${took(to - from)}`
  return element(
    'li',
    { class: tone },
    element('a', { href: `#${place}` }, conversation),
    element('p', {}, phrases(sentence)),
    element('p', { class: 'faint' }, `${count(turns, 'turn')}, ${count(rounds, 'round')}${lasted}`),
  )
}
