import { type ThresholdName, thresholds } from '../telemetry/thresholds.ts'

/** What is told beside the figures that are beyond their thresholds. */
const others = [
  ...[
    'jobsGivenUp',
    'driveFull',
    'volumeFullSoon',
    'backupOld',
    'noBackup',
    'instanceSilent',
    'noInstance',
  ],
] as const satisfies string[]

export type FindingKind = ThresholdName | (typeof others)[number]

/** Everything that may be found. */
export const findingKinds: FindingKind[] = [
  ...(Object.keys(thresholds) as ThresholdName[]),
  ...others,
]
