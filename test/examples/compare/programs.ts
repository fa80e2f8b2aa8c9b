// The compared programs: each job is written once for each library, and prints the same.

import { readFileSync } from 'node:fs'

export const jobs = [
  {
    name: 'chat',
    title: 'streaming chat with a tool',
    out: 'get_weather ran\nIt is so: rain in Paris.',
  },
  { name: 'output', title: 'structured output', out: '2 chairs to Ulm\n' },
  { name: 'sub-agent', title: 'agent with a sub-agent', out: 'It is so: a low wall.\n' },
] as const

export const libraries = [
  { name: 'weir', title: 'Weir' },
  { name: 'ai-sdk', title: 'AI SDK' },
  { name: 'agents-sdk', title: 'OpenAI Agents SDK' },
] as const

type Job = (typeof jobs)[number]
type Library = (typeof libraries)[number]

export function programOf(job: Job, library: Library): URL {
  return new URL(`${job.name}-${library.name}.ts`, import.meta.url)
}

/** Lines of code, without blank lines and comments. All programs have the format of this tree. */
function linesOf(program: URL): number {
  const lines = readFileSync(program, 'utf8').split('\n')
  return lines.filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length
}

/** The table of README.md beside this file. */
export function lineTable(): string {
  const row = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`
  return [
    row(['lines of code', ...libraries.map(({ title }) => title)]),
    row(['---', ...libraries.map(() => '---:')]),
    ...jobs.map((job) =>
      row([job.title, ...libraries.map((library) => linesOf(programOf(job, library)))]),
    ),
  ].join('\n')
}
