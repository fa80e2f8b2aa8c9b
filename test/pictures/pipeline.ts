// Draws the picture of the pipeline for README.md, light and dark: node test/pictures/pipeline.ts. The texts
// are large, because a phone shows the picture at half its size.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

type Box = { name: string; job: string; x: number; y: number }
type Colors = { box: string; edge: string; text: string; faint: string; line: string }

const width = 720
const height = 306
const boxWidth = 204
const boxHeight = 84
const right = width - boxWidth - 2
const middle = (width - boxWidth) / 2

/** In the order in which a round passes them. */
export const boxes: readonly Box[] = [
  { name: 'conversation', job: 'asks, or ends', x: 2, y: 2 },
  { name: 'llm-gateway', job: 'calls the model', x: middle, y: 2 },
  { name: 'validator', job: 'checks each call', x: right, y: 2 },
  { name: 'approval', job: 'guards, people', x: right, y: 136 },
  { name: 'executor', job: 'runs the tools', x: middle, y: 136 },
  { name: 'loop-detector', job: 'finds loops', x: 2, y: 136 },
]

/** A file for each color scheme, below docs/start. */
export const pictures: Readonly<Record<string, string>> = {
  'pipeline-light.svg': pipeline({
    box: '#f6f5f1',
    edge: '#8a867b',
    text: '#1d1f23',
    faint: '#5b5a55',
    line: '#5978b5',
  }),
  'pipeline-dark.svg': pipeline({
    box: '#22252b',
    edge: '#6f7480',
    text: '#eceae4',
    faint: '#b3b1aa',
    line: '#8fb0ee',
  }),
}

function pipeline({ box, edge, text, faint, line }: Colors): string {
  const label = (x: number, y: number, size: number, fill: string, content: string) =>
    `  <text x="${x}" y="${y}" font-size="${size}" fill="${fill}">${content}</text>`
  const shapes = boxes.flatMap(({ name, job, x, y }) => [
    `  <rect x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="10" fill="${box}" stroke="${edge}" stroke-width="2"/>`,
    label(x + boxWidth / 2, y + 36, 25, text, name),
    label(x + boxWidth / 2, y + 65, 21, faint, job),
  ])
  const arrows = boxes.map((from, at) => arrow(from, boxes[(at + 1) % boxes.length] ?? from))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif" text-anchor="middle">`,
    `  <title>The way of a round: ${boxes.map(({ name }) => name).join(', ')}, and back to the conversation</title>`,
    `  <defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="4" markerHeight="4" orient="auto"><path d="M0 0 L8 4 L0 8 z" fill="${line}"/></marker></defs>`,
    ...arrows.map(
      (path) =>
        `  <path d="${path}" stroke="${line}" stroke-width="4" fill="none" marker-end="url(#head)"/>`,
    ),
    ...shapes,
    `  <rect x="2" y="246" width="${width - 4}" height="58" rx="10" fill="none" stroke="${edge}" stroke-width="2" stroke-dasharray="6 5"/>`,
    label(width / 2, 283, 22, text, 'one log: each message, call, verdict and result'),
    '</svg>',
    '',
  ].join('\n')
}

/** From the edge of a box to the edge of the next box. */
function arrow(from: Box, to: Box): string {
  const gap = 4
  if (from.y === to.y) {
    const isRight = to.x > from.x
    const y = from.y + boxHeight / 2
    const [start, end] = isRight
      ? [from.x + boxWidth + gap, to.x - gap]
      : [from.x - gap, to.x + boxWidth + gap]
    return `M${start} ${y} L${end} ${y}`
  }
  const x = from.x + boxWidth / 2
  const isDown = to.y > from.y
  const [start, end] = isDown
    ? [from.y + boxHeight + gap, to.y - gap]
    : [from.y - gap, to.y + boxHeight + gap]
  return `M${x} ${start} L${x} ${end}`
}

if (process.argv[1] === import.meta.filename)
  for (const [file, content] of Object.entries(pictures))
    writeFileSync(join(import.meta.dirname, '../../docs/start', file), content)
