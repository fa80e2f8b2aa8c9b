// The compared programs: each job is written once for each library, and prints the same.

import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { DefaultChatTransport, getToolName, isToolUIPart } from 'ai'
import { PageChat } from '../../apps/http/edge/ui-stream/page-chat.ts'

export const jobs = [
  {
    name: 'chat',
    title: 'streaming chat with a tool',
    out: 'get_weather ran\nIt is so: rain in Paris.',
  },
  { name: 'output', title: 'structured output', out: '2 chairs to Ulm\n' },
  { name: 'sub-agent', title: 'agent with a sub-agent', out: 'It is so: a low wall.\n' },
  {
    name: 'approval',
    title: 'approval from a page that it serves',
    out: 'It is so: deployed to Paris.\n',
    // The page has one form for each call that waits.
    drive: approveAll,
  },
  { name: 'workers', title: 'two workers with one history', out: '1 times\n2 times\n' },
  {
    name: 'served',
    title: 'chat that it serves to useChat',
    out: 'get_weather: rain in Paris\nIt is so: rain in Paris.',
    talk: shownChat,
  },
] as const

export type Job = (typeof jobs)[number]

/**
 * `folder`: of a library whose packages do not fit into this tree. It has its own lockfile.
 * `jobs`: default: all.
 */
export type Library = {
  name: string
  title: string
  folder?: string
  jobs?: readonly Job['name'][]
}

export const libraries: readonly Library[] = [
  { name: 'weir', title: 'Weir' },
  { name: 'ai-sdk', title: 'AI SDK' },
  { name: 'agents-sdk', title: 'OpenAI Agents SDK' },
  { name: 'mastra', title: 'Mastra', folder: 'mastra', jobs: ['served'] },
]

export const programs = jobs.flatMap((job) =>
  libraries.filter((library) => hasProgram(job, library)).map((library) => ({ job, library })),
)

function hasProgram(job: Job, library: Library): boolean {
  return library.jobs?.includes(job.name) ?? true
}

/** Approves the first call of the page at `url`, once there is one. */
async function approveAll(url: string): Promise<void> {
  let form: RegExpExecArray | null = null
  while (form === null) {
    const page = await (await fetch(url)).text()
    form = /<form method="post" action="(\/[^"]+)">([^<]*)</.exec(page)
    if (form === null) await setTimeout(20)
  }
  const [, action = '', call = ''] = form
  if (!call.includes('Paris')) throw new Error(`the page shows ${call}`)
  await fetch(new URL(action, url), { method: 'POST' })
}

/** The parts that a page with useChat shows for a question to the server at `url`. */
async function shownChat(url: string): Promise<string> {
  const chat = new PageChat('', { transport: new DefaultChatTransport({ api: url }) })
  await chat.sendMessage({ text: 'How is Paris?' })
  const shown = (chat.messages.at(-1)?.parts ?? []).flatMap((part) => {
    if (isToolUIPart(part)) return `${getToolName(part)}: ${part.output}`
    return part.type === 'text' ? part.text : []
  })
  return shown.join('\n')
}

export function programOf(job: Job, library: Library): URL {
  const { name, folder = '.' } = library
  return new URL(`${folder}/${job.name}-${name}.ts`, import.meta.url)
}

/** Lines of code, without blank lines and comments. All programs have the format of this tree. */
function linesOf(program: URL): number {
  const lines = readFileSync(program, 'utf8').split('\n')
  return lines.filter((line) => !/^\s*(\/\/.*)?$/.test(line)).length
}

/** The table of README.md next to this file. */
export function lineTable(): string {
  const row = (cells: (string | number)[]) => `| ${cells.join(' | ')} |`
  return [
    row(['lines of code', ...libraries.map(({ title }) => title)]),
    row(['---', ...libraries.map(() => '---:')]),
    ...jobs.map((job) =>
      row([
        job.title,
        ...libraries.map((library) =>
          hasProgram(job, library) ? linesOf(programOf(job, library)) : '–',
        ),
      ]),
    ),
  ].join('\n')
}
