/**
 * Parts of the File System Access API that only some browsers have
 * (https://wicg.github.io/file-system-access/).
 */

interface DataTransferItem {
  getAsFileSystemHandle?(): Promise<FileSystemHandle | null>
}

interface FileSystemHandle {
  queryPermission?(descriptor: { mode: 'read' }): Promise<PermissionState>
  requestPermission?(descriptor: { mode: 'read' }): Promise<PermissionState>
}

interface Window {
  showOpenFilePicker?(options: { multiple: boolean }): Promise<FileSystemFileHandle[]>
  showDirectoryPicker?(): Promise<FileSystemDirectoryHandle>
}
