// The table of dialects: the marks of each model family, and the grammar between them. Sources
// are the chat templates and the parsers of vLLM (tool_parsers), SGLang (function_call) and llama.cpp
// (models/templates). Frames with more than JSON between marks stand in named-marks.ts and
// tag-marks.ts.

import type { Dialect, Grammar, Reading } from './dialect.ts'
import { json } from './grammars/json.ts'
import { python } from './grammars/python.ts'
import {
  deepseek,
  functionary,
  gemma,
  harmony,
  inkling,
  kimi,
  kimiK3,
  mistralNames,
  plamo,
  qwenAgent,
  solar,
} from './named-marks.ts'
import { mark } from './readers/cursor.ts'
import { dsml, functionTag, glm, invokes, minimaxM3, suffixed } from './tag-marks.ts'

/**
 * In the order in which they are tried. `hermes` and `marked-json` follow the dialects that use their
 * tags for other contents, and report contents that none of them can read. `pythonic` precedes
 * `json`, which would read its list as broken JSON, and `invoke-tag`, which shares a tag.
 */
const table: Record<string, Grammar[]> = {
  pythonic: [
    python('<|tool_call_start|>\n```python\n', '```\n<|tool_call_end|>', { hasLines: true }), // MiniCPM 3
    python('<|tool_call_start|>', '<|tool_call_end|>'), // LFM2
    python('<|python_start|>', '<|python_end|>', { isOptional: true }), // Llama 4
    python('<<function>>', ''), // Gorilla OpenFunctions
    python('<function_calls>', '</function_calls>', { hasLines: true }), // Olmo 3
    python('<tool_code>', '</tool_code>', { hasLines: true, isPrinted: true }),
    python('', '', { fence: 'tool_code', hasLines: true, isPrinted: true }), // Gemma 3
    python('', ''), // Llama 3.2
  ],
  json: [json('')],
  'function-tag': [functionTag],
  'minimax-m3': [minimaxM3],
  glm: [glm(), glm({ word: 'longcat_' }), suffixed], // GLM 4.5, LongCat, Hy
  hermes: [
    json('<tool_call>', '</tool_call>'), // Hermes, Qwen 2.5
    json('<dots_function_call>', '</dots_function_call>', { first: mark`~[{[]` }),
  ],
  mistral: [json('[TOOL_CALLS]', '', { first: mark`~[{[]` }), mistralNames], // older, newer
  kimi: [kimi], // Kimi K2
  'kimi-k3': [kimiK3],
  deepseek: [deepseek], // DeepSeek V3, R1, V3.1, Step 3
  'invoke-tag': [
    // MiniMax M2, older Claude models, Dots
    ...invokes(
      ['invoke', 'parameter'],
      'plain',
      ['minimax:tool_call', 'function_calls', 'dots_function_call'],
      { strays: ['function_calls', 'minimax:tool_call', 'tool_calls', 'dots_function_call'] },
    ),
    ...dsml, // DeepSeek since V3.2
    // Claude
    ...invokes(['antml:invoke', 'antml:parameter'], 'marked', ['antml:function_calls']),
    ...invokes(['xai:function_call', 'parameter'], 'marked', []), // Grok
    // MiniCPM 5, whose tokens may lose the blank in front of a name
    ...invokes(['function', 'param'], 'plain', [], {
      never: /&#?\w{1,32};|<!\[CDATA\[|\]\]>/,
      hasData: true,
    }),
  ],
  gemma: [
    gemma('<|tool_call>', '<tool_call|>', '<|"|>'), // Gemma 4
    gemma('<start_function_call>', '<end_function_call>', '<escape>'), // FunctionGemma
  ],
  'marked-json': [
    json('<|python_tag|>'), // Llama 3
    json('<|python_start|>', '<|python_end|>', { isOptional: true }), // Llama 4
    json('<|tool_call|>', '<|/tool_call|>', { isOptional: true }), // Phi-4-mini, Granite
    json('functools', '', { first: /\[/y }), // Phi-4-mini
    json('<tool_calls>', '</tool_calls>'), // Jamba, Hunyuan
    json('<|tool_call_start|>', '<|tool_call_end|>'), // LFM2
    json('<|START_ACTION|>', '<|END_ACTION|>', { shape: 'tool name' }), // Command A, R7B
    json('<|tools_prefix|>', '<|tools_suffix|>', { shape: 'name as key' }), // Apertus
    json('<|action_start|><|plugin|>', '<|action_end|>'), // InternLM
    json('<|action_start|> <|plugin|>', '<|action_end|>'),
    json('<function_call>'), // Granite 20B
    json('function call<|role_sep|>'), // GigaChat 3.0
    json('<|message_sep|>\n\nfunction call<|role_sep|>'),
    json('<|function_call|>'), // GigaChat 3.1
    json('<TOOLCALL>', '</TOOLCALL>'), // Nemotron
    json('<longcat_tool_call>', '</longcat_tool_call>'), // LongCat
    json('[unused11]', '[unused12]'), // Pangu
    json('[TOOL_REQUEST]', '[END_TOOL_REQUEST]'), // LM Studio
    json('[TOOL_CALL]', '[/TOOL_CALL]'),
    json('-> tool/function_call\n'), // HyperCLOVA X
  ],
  'solar-open': [solar],
  plamo: [plamo],
  inkling: [inkling],
  functionary,
  'qwen-agent': [qwenAgent],
  harmony: [harmony], // OpenAI's open models
}

export const dialects: readonly Dialect[] = Object.entries(table)

/** How all forms begin except calls in a fence. Most texts begin otherwise. */
const anyFirst = /^[<[\]{f>✿-]/

/** The reading in the first of these dialects that has one. `fence`: as for a grammar. */
export function readingIn(
  text: string,
  fence?: string,
  among = dialects,
): { dialect: string; reading: Reading } | undefined {
  if (fence !== 'tool_code' && !anyFirst.test(text)) return undefined
  for (const [name, forms] of among) {
    let read: ReturnType<Grammar>
    for (const form of forms) {
      read = form(text, fence)
      if (read !== undefined) break
    }
    const reading = read?.()
    if (reading !== undefined) return { dialect: name, reading }
  }
  return undefined
}
