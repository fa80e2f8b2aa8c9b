// Frameworks for agents in Python: a script of this folder each, whose tool `exec` runs a command.

import { join } from 'node:path'
import type { PythonPackages } from '../installed-hosts.ts'
import { lastLine, type Program } from './program.ts'

/** One environment. The others need an older client of OpenAI, or refuse these versions. */
const shared = {
  openai: '3.57.0',
  langgraph: '1.2.24',
  'langchain-openai': '1.7.4',
  'pydantic-ai-slim[openai]': '2.68.0',
  'openai-agents': '0.24.0',
  agno: '3.1.10',
  'autogen-agentchat': '0.7.5',
  'autogen-ext[openai]': '0.7.5',
  smolagents: '1.26.0',
}
/** Of the clients of `weir serve` too. */
export const openaiPackage: PythonPackages = { pypi: shared, host: 'openai' }
const strands = { 'strands-agents[openai]': '1.62.0' }
const llamaIndex = { 'llama-index-core': '0.14.25', 'llama-index-llms-openai-like': '0.8.1' }
const crewai = { crewai: '1.15.30' }

const framework = (
  title: string,
  script: string,
  pypi: Readonly<Record<string, string>>,
  more: { host?: string; way?: string } & Pick<Program, 'unjudged' | 'finish' | 'endsPolls'> = {},
): Program => ({
  title,
  package: { pypi, host: more.host ?? Object.keys(pypi)[0] ?? '' },
  way: more.way ?? 'a base URL, Chat Completions',
  shell: { name: 'exec', argument: 'command' },
  environment: () => ({ OPENAI_API_KEY: 'dummy', CREWAI_TRACING_ENABLED: 'false' }),
  args: (text, { url }) => [
    ...['-W', 'ignore', join(import.meta.dirname, '..', 'python', `${script}.py`)],
    ...[`${url}/v1`, text],
  ],
  reply: lastLine,
  unjudged: more.unjudged,
  endsPolls: more.endsPolls ?? false,
  ...(more.finish !== undefined && { finish: more.finish }),
})

export const frameworks: readonly Program[] = [
  framework('openai', 'openai_loop', shared, { host: 'openai' }),
  framework('Pydantic AI', 'pydantic_ai_agent', shared, { host: 'pydantic-ai-slim[openai]' }),
  framework('LangGraph', 'langgraph_agent', shared, { host: 'langgraph' }),
  framework('OpenAI Agents', 'openai_agents_agent', shared, {
    host: 'openai-agents',
    way: 'a base URL, Responses',
  }),
  framework('AutoGen', 'autogen_agent', shared, { host: 'autogen-agentchat' }),
  framework('Agno', 'agno_agent', shared, { host: 'agno' }),
  framework('smolagents', 'smolagents_agent', shared, {
    host: 'smolagents',
    finish: (answer) => ({ name: 'final_answer', input: JSON.stringify({ answer }) }),
    unjudged: 'its requests show failures as texts, without the calls',
  }),
  framework('Strands', 'strands_agent', strands),
  framework('LlamaIndex', 'llama_index_agent', llamaIndex),
  framework('CrewAI', 'crewai_agent', crewai, { endsPolls: true }),
]
