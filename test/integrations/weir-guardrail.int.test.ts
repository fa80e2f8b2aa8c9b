// The guardrail of LiteLLM's proxy. test/hosts runs it in the proxy itself.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from '@jest/globals'

it('refuses each API, tool and answer whose calls nobody would judge', async () => {
  const file = join(import.meta.dirname, 'weir_guardrail.py')
  const { stdout } = await promisify(execFile)('python3', ['-B', file]) // no __pycache__ in the package
  const otherApi =
    '400 weir: this guardrail judges Chat Completions only; send this API through weir proxy'
  const choices = '502 weir: the model gave several choices, and Weir judges one'
  const noChat = '400 weir: the stream is no Chat Completion, so Weir cannot judge it'
  expect(stdout.trim().split('\n')).toEqual([
    'acompletion: passes unchanged',
    'aembedding: passes unchanged',
    ...['aresponses', 'pass_through_endpoint', '_arealtime', 'of a later version'].map(
      (api) => `${api}: ${otherApi}`,
    ),
    'a function: passes unchanged',
    'an MCP server: 400 weir: LiteLLM may run calls of MCP servers unjudged: declare them as functions',
    'one choice: passes 1',
    `two choices: ${choices}`,
    'a stream: passes 2',
    `a stream of two choices: ${choices}`,
    `a stream with another piece: ${noChat}`,
    `an empty stream: ${noChat}`,
  ])
})
