import { beforeEach, describe, expect, it } from '@jest/globals'
import { createScreen, type Screen } from '../../../apps/terminal/live-screen.ts'

/** A stream that records its output. */
function stream(fields: { isTTY?: boolean; columns?: number; getColorDepth?: () => number }) {
  const written: string[] = []
  const out = {
    write: (text: string) => written.push(text),
    on: () => out,
    getColorDepth: () => 8,
    ...fields,
  } as unknown as NodeJS.WriteStream
  return { out, text: () => written.join('') }
}

const terminal = () => stream({ isTTY: true, columns: 80 })
const faint = { text: '  exec running', tone: 'faint' } as const
const plain = (text: string) => ({ text, tone: 'plain' }) as const
const clear = '\r\u001b[K'

/** The final content of a terminal: of each line, the text after its last erasure. */
const shown = (text: string) =>
  text
    .split('\n')
    .map((line) => line.split(clear).at(-1))
    .join('\n')

describe('a terminal', () => {
  it('has a live line that the next event replaces', () => {
    const { out, text } = terminal()
    const screen = createScreen(out, {})
    screen.live(plain('exec running'))
    screen.show([plain('exec ok')])
    screen.live(undefined)
    expect(text()).toBe(`exec running${clear}exec ok\n`)
    expect(shown(text())).toBe('exec ok\n')
  })

  it('writes only the new part of a growing live line', () => {
    const { out, text } = terminal()
    const screen = createScreen(out, {})
    for (const text of ['I wi', 'I will', 'I will', 'other']) screen.live(plain(text))
    expect(text()).toBe(`I will${clear}other`)
  })

  it('keeps the live line below the printed text', () => {
    const { out, text } = terminal()
    const screen = createScreen(out, {})
    screen.live(plain('exec running'))
    screen.print('a warning')
    expect(shown(text())).toBe('a warning\nexec running')
  })

  it('has lines that end before its last column and are not too long', () => {
    const columns = (of: number | undefined) =>
      createScreen(stream({ isTTY: true, ...(of && { columns: of }) }).out, {}).layout().columns
    expect([columns(80), columns(60), columns(500), columns(5), columns(undefined)]).toEqual([
      79, 59, 99, 19, 79,
    ])
  })

  it('shows colours if it has them; with NO_COLOR, Node forbids them', () => {
    const coloured = terminal()
    createScreen(coloured.out, {}).show([faint])
    expect(coloured.text()).toBe('\u001b[2m  exec running\u001b[22m\n')
    const bare = stream({ isTTY: true, columns: 80, getColorDepth: () => 1 })
    createScreen(bare.out, {}).show([faint])
    expect(bare.text()).toBe('  exec running\n')
  })

  it('has neither a live line nor wrapped lines if it is dumb', () => {
    const screen = createScreen(terminal().out, { TERM: 'dumb' })
    expect(screen.layout()).toEqual({
      columns: Number.POSITIVE_INFINITY,
      isLive: false,
      isTerminal: true,
    })
  })
})

describe('a pipe', () => {
  let piped: ReturnType<typeof stream>
  let screen: Screen

  beforeEach(() => {
    piped = stream({})
    screen = createScreen(piped.out, {})
  })

  it('has no live line and no colours', () => {
    screen.live(faint)
    screen.show([faint])
    screen.live(undefined)
    expect(piped.text()).toBe('  exec running\n')
  })

  it('gets text in pieces, and printed texts on separate lines', () => {
    screen.show([{ ...plain('half a '), isOpen: true }])
    screen.print('{"level":40}\n')
    screen.show([{ ...plain('line'), isOpen: true }, plain('')])
    expect(piped.text()).toBe('half a \n{"level":40}\nline\n')
  })
})
