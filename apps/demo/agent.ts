// The agent of the demo. It has one tool, `exec`, as in incident I1. Both halves use it.

import { fileURLToPath } from 'node:url'
import { stringify } from 'yaml'
import type { Agent } from '../../shared/agents/agents.ts'
import { defaultSettings } from '../../shared/agents/policy/policy.ts'
import { type BadModel, badModels } from './reflex-model.ts'

export function demoAgent(baseUrl: string): Agent {
  return {
    name: 'demo',
    system: 'You are a helpful assistant with a shell.',
    model: {
      provider: 'anthropic',
      name: 'demo',
      baseUrl,
      apiKey: 'no-key-needed',
      maxOutputTokens: 1_024,
    },
    tools: [
      {
        declaration: {
          name: 'exec',
          description: 'Runs a shell command.',
          schema: JSON.stringify({
            type: 'object',
            properties: { command: { type: 'string', description: 'what to run' } },
            required: ['command'],
          }),
          idempotent: false,
          timeoutMs: 10_000,
          poll: false,
          hints: null,
        },
        run: {
          kind: 'command',
          argv: [process.execPath, fileURLToPath(new URL('exec-tool.mjs', import.meta.url))],
        },
      },
    ],
    settings: { ...defaultSettings, fallback: 'I could not find out which command to run.' },
  }
}

/** The same agent as an agent file, in YAML, with the model at `baseUrl`. */
export function demoAgentFile(baseUrl: string, bad: BadModel): string {
  const { system, model, tools, settings } = demoAgent(baseUrl)
  const content = {
    name: `demo-${bad}`,
    system,
    model: { provider: model.provider, name: bad, baseUrl, maxOutputTokens: model.maxOutputTokens },
    fallback: settings.fallback,
    tools: tools.map(({ declaration: { name, description, schema, timeoutMs }, run }) => ({
      name,
      description,
      timeoutMs,
      schema: JSON.parse(schema),
      command: run.kind === 'command' ? run.argv : [],
    })),
  }
  return `# The agent of weir demo, for the model of weir demo-model. Its model's name selects the model: ${badModels.join(' or ')}.\n${stringify(content)}`
}

export const question = 'List the files in my project, please.'
