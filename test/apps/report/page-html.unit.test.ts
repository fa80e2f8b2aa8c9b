import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Script } from 'node:vm'
import { describe, expect, it } from '@jest/globals'
import { timelineOf } from '../../../apps/history/inspect/timeline-of.ts'
import { indexEntry } from '../../../apps/report/index-entry.ts'
import { pageHtml } from '../../../apps/report/page-html.ts'
import { reportData } from '../../../apps/report/report-data.ts'
import { hostileConversation, hostileTexts } from './hostile-conversation.ts'

const records = hostileConversation()
const report = reportData(timelineOf('c', records, { reasoning: true }), records, {
  partition: 0,
  topicPrefix: 'weir.',
})
const entry = indexEntry({ conversation: hostileTexts.join(' '), from: 0, place: 0 }, report.data)
const html = pageHtml(
  { madeAt: 0, source: 'a test', exportedAt: null, redaction: null, conversations: [entry] },
  [report],
).join('')
const scripts = [...html.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)].map(
  ([, attributes = '', text = '']) => ({ attributes, text }),
)

const ownTags = new Set([
  'doctype',
  'html',
  'head',
  'meta',
  'title',
  'body',
  'div',
  'p',
  'span',
  'b',
  'h1',
  'code',
  'noscript',
])

describe('the file of a report', () => {
  it('has only its own markup, with any texts in it', () => {
    expect(scripts.map(({ attributes }) => attributes.trim())).toEqual([
      'type="application/json" id="index"',
      'type="application/json" id="data-0"',
      'type="application/json" id="records-0"',
      '',
    ])
    const outside = html.replace(/<script[\s\S]*?<\/script>|<style>[\s\S]*?<\/style>/g, '')
    const tags = [...outside.matchAll(/<[/!]?([a-z][a-z0-9]*)/g)].map(([, name]) => name)
    expect(tags.filter((tag) => !ownTags.has(tag ?? ''))).toEqual([])
    for (const { text } of scripts.slice(0, 3)) expect(text).not.toMatch(/[<>&]/)
  })

  it('returns every text unchanged', () => {
    const data = JSON.parse(scripts[1]?.text ?? '')
    const call = data.timeline.turns[0].rounds[0].calls[0]
    for (const text of hostileTexts) {
      expect(call.rawArguments).toContain(text)
      expect(call.result.text).toContain(text)
    }
  })

  it('has no invisible character and none that reverses text', () => {
    expect(html).not.toMatch(/(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
  })

  it('permits only its own script and style, and no loading or sending', () => {
    const [, policy = ''] = /Content-Security-Policy" content="([^"]+)"/.exec(html) ?? []
    const style = /<style>([\s\S]*?)<\/style>/.exec(html)?.[1] ?? ''
    const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    expect(policy).toBe(
      `default-src 'none'; script-src ${hash(scripts[3]?.text ?? '')}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`,
    )
    expect(html).not.toMatch(/(?:src|href)="(?!#)|@import|url\(/)
  })

  it('has a script that a browser can read, without TypeScript or modules', () => {
    const { text = '' } = scripts[3] ?? {}
    expect(() => new Script(text)).not.toThrow()
    expect(text).not.toMatch(/^\s*(?:import|export)\b/m)
  })
})

describe('the sources of the page', () => {
  const apps = join(import.meta.dirname, '../../../apps')
  const sources = ['page/kit', 'report/page', 'replay/page', 'http/console/page'].flatMap(
    (folder) =>
      readdirSync(join(apps, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name)),
  )

  it.each(sources)('turn data into text, never into markup or code: %s', (name) => {
    const source = readFileSync(join(apps, name), 'utf8')
    expect(source).not.toMatch(
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|setHTML|DOMParser|createContextualFragment|srcdoc|eval\(|new Function/,
    )
    expect(source).not.toMatch(/dangerouslySetInnerHTML|import\(|localStorage|document\.cookie/)
    if (!name.startsWith('http')) expect(source).not.toMatch(/fetch\(|XMLHttpRequest|WebSocket/)
  })
})
