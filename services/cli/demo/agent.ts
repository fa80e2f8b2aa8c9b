// The agent of the demo: one tool, `exec`, as in incident I1. Both halves use it.

import { fileURLToPath } from 'node:url'
import type { Agent } from '../../../shared/agents.ts'
import { defaultSettings } from '../../../shared/agents.ts'

export function demoAgent(baseUrl: string): Agent {
  return {
    name: 'demo',
    system: 'You are a helpful assistant with a shell.',
    model: { provider: 'anthropic', name: 'demo', baseUrl, apiKey: 'no-key-needed', maxOutputTokens: 1_024 },
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
        run: { kind: 'command', argv: [process.execPath, fileURLToPath(new URL('exec-tool.mjs', import.meta.url))] },
      },
    ],
    settings: { ...defaultSettings, fallback: 'I could not find out which command to run.' },
  }
}

export const question = 'List the files in my project, please.'
