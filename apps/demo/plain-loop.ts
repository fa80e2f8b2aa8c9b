// The loop of incident I1, as in many runtimes: request, run the calls, request again. Only a cap
// on iterations stops it.

import { spawn } from 'node:child_process'
import Anthropic from '@anthropic-ai/sdk'
import type { Agent } from '../../shared/agents/agents.ts'
import { visibleEnvironment } from '../../shared/tools/tool-process.ts'

export type LoopEnd = { rounds: number; toolStarts: number; tokens: number; end: string }

/** The cap that ended the real incident. */
export const iterationsMax = 25

/** Runs one turn with nothing between model and tool. `show` gets one line per call. */
export async function runPlainLoop(
  agent: Agent,
  question: string,
  show: (round: number, line: string) => void,
): Promise<LoopEnd> {
  const client = new Anthropic({
    apiKey: agent.model.apiKey,
    baseURL: agent.model.baseUrl,
    maxRetries: 0,
  })
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: question }]
  let toolStarts = 0
  let tokens = 0
  for (let round = 1; round <= iterationsMax; round++) {
    const answer = await client.messages
      .stream({
        model: agent.model.name,
        max_tokens: agent.model.maxOutputTokens,
        system: agent.system,
        messages,
        tools: agent.tools.map(({ declaration: { name, description, schema } }) => ({
          name,
          description,
          input_schema: JSON.parse(schema),
        })),
      })
      .finalMessage()
    tokens += answer.usage.input_tokens + answer.usage.output_tokens
    const calls = answer.content.filter((block) => block.type === 'tool_use')
    if (calls.length === 0) return { rounds: round, toolStarts, tokens, end: 'the model answered' }
    const results: Anthropic.ToolResultBlockParam[] = []
    for (const call of calls) {
      toolStarts++
      const { text, isError } = await runTool(agent, call.name, JSON.stringify(call.input))
      show(
        round,
        `${call.name}(${JSON.stringify(call.input)}) → ${isError ? 'error' : 'ok'}: ${text.trim()}`,
      )
      results.push({ type: 'tool_result', tool_use_id: call.id, content: text, is_error: isError })
    }
    messages.push(
      { role: 'assistant', content: answer.content },
      { role: 'user', content: results },
    )
  }
  return {
    rounds: iterationsMax,
    toolStarts,
    tokens,
    end: `aborted by the limit of ${iterationsMax} iterations`,
  }
}

function runTool(
  agent: Agent,
  name: string,
  input: string,
): Promise<{ text: string; isError: boolean }> {
  const tool = agent.tools.find(({ declaration }) => declaration.name === name)
  if (tool?.run.kind !== 'command')
    return Promise.resolve({ text: `no tool ${name}`, isError: true })
  const [program, ...args] = tool.run.argv
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: visibleEnvironment(),
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    let text = ''
    child.stdout.on('data', (data: Buffer) => {
      text += data
    })
    child.stderr.on('data', (data: Buffer) => {
      text += data
    })
    child.on('error', reject)
    child.on('close', (code) => resolve({ text, isError: code !== 0 }))
    child.stdin.end(input)
  })
}
