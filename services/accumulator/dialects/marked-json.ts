// Marks around JSON that single model families use, one line for each. Sources are the chat
// templates and the parsers of vLLM (tool_parsers), SGLang (function_call) and llama.cpp
// (models/templates).

import type { Dialect } from './dialect.ts'
import { framedJson } from './framed-json.ts'
import { nameAsKey, namedByTool } from './framed-shapes.ts'

export const markedJson: Dialect = framedJson('marked-json', [
  { open: '<|python_tag|>', close: '' }, // Llama 3
  { open: '<|python_start|>', close: '<|python_end|>', isOptional: true }, // Llama 4
  { open: '<|tool_call|>', close: '<|/tool_call|>', isOptional: true }, // Phi-4-mini, Granite
  { open: 'functools', close: '', first: '[' }, // Phi-4-mini
  { open: '<tool_calls>', close: '</tool_calls>' }, // Jamba, Hunyuan
  { open: '<|tool_call_start|>', close: '<|tool_call_end|>' }, // LFM2
  { open: '<|START_ACTION|>', close: '<|END_ACTION|>', shape: namedByTool }, // Command A, R7B
  { open: '<|tools_prefix|>', close: '<|tools_suffix|>', shape: nameAsKey }, // Apertus
  { open: '<|action_start|><|plugin|>', close: '<|action_end|>' }, // InternLM
  { open: '<|action_start|> <|plugin|>', close: '<|action_end|>' },
  { open: '<function_call>', close: '' }, // Granite 20B
  { open: 'function call<|role_sep|>', close: '' }, // GigaChat 3.0
  { open: '<|message_sep|>\n\nfunction call<|role_sep|>', close: '' },
  { open: '<|function_call|>', close: '' }, // GigaChat 3.1
  { open: '<TOOLCALL>', close: '</TOOLCALL>' }, // Nemotron
  { open: '<longcat_tool_call>', close: '</longcat_tool_call>' }, // LongCat
])
