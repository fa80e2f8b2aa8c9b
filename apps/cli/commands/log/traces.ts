// weir traces.

import type { Command } from 'commander'
import {
  bundleOption,
  once,
  settingsBeside,
  unredactedOption,
  whichBus,
  withSettings,
} from '../flags.ts'

export function addTraces(program: Command): void {
  withSettings(program.command('traces'), [...whichBus, 'topicPrefix', 'logLevel', 'agents'])
    .option(
      '--endpoint <url>',
      'the OTLP/HTTP endpoint, such as http://localhost:4318 (default: OTEL_EXPORTER_OTLP_ENDPOINT; headers: OTEL_EXPORTER_OTLP_HEADERS)',
      once,
    )
    .option(
      '--since <time>',
      "a time such as 2026-07-29T10:12:03Z or '10m ago', or beginning",
      '1h ago',
    )
    .option('--once', 'end when the turns of now are sent')
    .option('--content', 'send arguments, results and texts of the model too')
    .addOption(unredactedOption())
    .option('--metrics', 'send metrics of the turns that end from now on too')
    .option(
      '--metric-names <file>',
      'a JSON file with other names of metrics, or null for those to leave out',
      once,
    )
    .addOption(bundleOption())
    .action(async ({ bundle, ...options }) =>
      (await import('../../../traces/traces.ts')).traces(
        { ...options, bundle },
        await settingsBeside(bundle, options),
      ),
    )
}
