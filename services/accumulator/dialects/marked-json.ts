// Marks around JSON that single model families use, one line for each.

import type { Dialect } from './dialect.ts'
import { framedJson } from './framed-json.ts'

export const markedJson: Dialect = framedJson('marked-json', [
  { open: '<|python_tag|>', close: '', between: ';' }, // Llama 3
  { open: '<|tool_call|>', close: '' }, // Granite
  { open: 'functools', close: '', first: '[' }, // Phi-4-mini
  { open: '<tool_calls>', close: '</tool_calls>' }, // Jamba, Hunyuan
  { open: '<|action_start|><|plugin|>', close: '<|action_end|>' }, // InternLM
  { open: '<|action_start|> <|plugin|>', close: '<|action_end|>' },
  { open: '<function_call>', close: '' }, // Granite 20B
  { open: '<|function_call|>', close: '' }, // GigaChat 3
  { open: '<TOOLCALL>', close: '</TOOLCALL>' }, // Nemotron
  { open: '<longcat_tool_call>', close: '</longcat_tool_call>' }, // LongCat
])
