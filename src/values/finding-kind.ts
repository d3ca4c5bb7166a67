import { type ThresholdName, thresholds } from '../telemetry/thresholds.ts'

/** Findings besides the thresholds. */
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

/** All kinds of findings. */
export const findingKinds: FindingKind[] = [
  ...(Object.keys(thresholds) as ThresholdName[]),
  ...others,
]
