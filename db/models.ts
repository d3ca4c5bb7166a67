import type { Sequelize } from 'sequelize'
import { ApiKey } from './models/api-key.ts'
import { BackupRun } from './models/backup-run.ts'
import { Blob } from './models/blob.ts'
import { Bucket } from './models/bucket.ts'
import { defineModel, type ModelOf } from './models/columns.ts'
import { DavLock } from './models/dav-lock.ts'
import { DavProperty } from './models/dav-property.ts'
import { DeletionHold } from './models/deletion-hold.ts'
import { EndedShare, EndedShareEntry } from './models/ended-share.ts'
import { Entry } from './models/entry.ts'
import { EntryCopy } from './models/entry-copy.ts'
import { EntryCopyFolder } from './models/entry-copy-folder.ts'
import { EntryTag } from './models/entry-tag.ts'
import { Event } from './models/event.ts'
import { EventLog } from './models/event-log.ts'
import { Favourite } from './models/favourite.ts'
import { FileRequest } from './models/file-request.ts'
import { FileRequestUpload } from './models/file-request-upload.ts'
import { Identity } from './models/identity.ts'
import { Installation } from './models/installation.ts'
import { InstanceState } from './models/instance-state.ts'
import { Invite } from './models/invite.ts'
import { Job } from './models/job.ts'
import { Login } from './models/login.ts'
import { LoginLink } from './models/login-link.ts'
import { LoginRequest } from './models/login-request.ts'
import { MailNotice } from './models/mail-notice.ts'
import { MailRecipient } from './models/mail-recipient.ts'
import { Maintenance } from './models/maintenance.ts'
import { Member } from './models/member.ts'
import { Note } from './models/note.ts'
import { OAuthClient } from './models/oauth-client.ts'
import { OAuthToken } from './models/oauth-token.ts'
import { Operator } from './models/operator.ts'
import { OwnLimit } from './models/own-limit.ts'
import { Passkey } from './models/passkey.ts'
import { Plan } from './models/plan.ts'
import { Preview } from './models/preview.ts'
import { RecoveryCode } from './models/recovery-code.ts'
import { Session } from './models/session.ts'
import { Share } from './models/share.ts'
import { ShareEntry } from './models/share-entry.ts'
import { ShareEvent } from './models/share-event.ts'
import { ShareUse } from './models/share-use.ts'
import { SignInKey } from './models/sign-in-key.ts'
import { SignInState } from './models/sign-in-state.ts'
import { StorageDay } from './models/storage-day.ts'
import { StoreMove } from './models/store-move.ts'
import { Tag } from './models/tag.ts'
import { TrashItem } from './models/trash-item.ts'
import { UploadPiece } from './models/upload-piece.ts'
import { UploadSession } from './models/upload-session.ts'
import { UploadStream } from './models/upload-stream.ts'
import { User } from './models/user.ts'
import { Version } from './models/version.ts'
import { Webhook } from './models/webhook.ts'
import { WebhookDelivery } from './models/webhook-delivery.ts'
import { Workspace } from './models/workspace.ts'

const tables = {
  ApiKey,
  BackupRun,
  Blob,
  Bucket,
  DavLock,
  DavProperty,
  DeletionHold,
  EndedShare,
  EndedShareEntry,
  Entry,
  EntryCopy,
  EntryCopyFolder,
  EntryTag,
  Event,
  EventLog,
  Favourite,
  FileRequest,
  FileRequestUpload,
  Identity,
  Installation,
  InstanceState,
  Invite,
  Job,
  Login,
  LoginLink,
  LoginRequest,
  MailNotice,
  MailRecipient,
  Maintenance,
  Member,
  Note,
  OAuthClient,
  OAuthToken,
  Operator,
  OwnLimit,
  Passkey,
  Plan,
  Preview,
  RecoveryCode,
  Session,
  Share,
  ShareEntry,
  ShareEvent,
  ShareUse,
  SignInKey,
  SignInState,
  StorageDay,
  StoreMove,
  Tag,
  TrashItem,
  UploadPiece,
  UploadSession,
  UploadStream,
  User,
  Version,
  Webhook,
  WebhookDelivery,
  Workspace,
}

export type Models = { [Name in keyof typeof tables]: ModelOf<(typeof tables)[Name]> }

/** Defines the model of every table on a connection. */
export function defineModels(sequelize: Sequelize): Models {
  for (const [name, table] of Object.entries(tables)) defineModel(sequelize, name, table)
  return sequelize.models as Models
}
