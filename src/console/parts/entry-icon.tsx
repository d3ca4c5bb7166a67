import {
  File,
  FileArchive,
  FileCode,
  FileImage,
  FileMusic,
  FileSpreadsheet,
  FileText,
  FileVideo,
  Folder,
  type LucideIcon,
} from './icons.ts'

const families: [types: RegExp, icon: LucideIcon, tone: string][] = [
  [/^image\//, FileImage, 'image'],
  [/^video\//, FileVideo, 'video'],
  [/^audio\//, FileMusic, 'audio'],
  [/pdf|msword|wordprocessing|opendocument\.text|rtf/, FileText, 'document'],
  [/csv|spreadsheet|ms-excel|tab-separated/, FileSpreadsheet, 'table'],
  [/zip|tar|compressed|gzip|7z|rar/, FileArchive, 'archive'],
  [/json|javascript|typescript|html|xml|css|x-sh|x-python|yaml|toml/, FileCode, 'code'],
  [/^text\//, FileText, 'text'],
]

/** The icon of an entry, in the colour of its kind. */
export function EntryIcon({
  contentType,
  size = 'row',
}: {
  contentType: string | null
  size?: 'row' | 'tile'
}) {
  const [, Icon, tone] =
    contentType === null
      ? [null, Folder, 'folder']
      : (families.find(([types]) => types.test(contentType)) ?? [null, File, 'text'])
  return (
    <span className={`entry-icon ${tone}${size === 'tile' ? ' large' : ''}`} aria-hidden>
      <Icon />
    </span>
  )
}
