; The installer for Windows, for one person or for all. bundle.py calls iscc with /DName /DVersion /DPublisher /DWindow
; /DFolder /DTo, from contents.py. Saved configs open in the window: Windows knows the last part of an ending only, so
; Workbench is offered for .toml ("Open with") and takes no other program's files.
[Setup]
AppId={{6C2B2B52-6A0B-4E5F-9C47-2D6D3C1E8F10}
AppName={#Name}
AppVersion={#Version}
AppPublisher={#Publisher}
DefaultDirName={autopf}\{#Name}
DefaultGroupName={#Name}
DisableProgramGroupPage=yes
PrivilegesRequired=lowest
PrivilegesRequiredOverridesAllowed=dialog
ArchitecturesAllowed=x64compatible
ArchitecturesInstallIn64BitMode=x64compatible
ChangesAssociations=yes
Compression=lzma2/fast
SolidCompression=no
LicenseFile=..\LICENSE
OutputDir={#To}
OutputBaseFilename={#Name}-{#Version}-setup
UninstallDisplayIcon={app}\{#Window}.exe

[Files]
Source: "{#Folder}\*"; DestDir: "{app}"; Flags: recursesubdirs createallsubdirs ignoreversion

[Icons]
Name: "{autoprograms}\{#Name}"; Filename: "{app}\{#Window}.exe"
Name: "{autodesktop}\{#Name}"; Filename: "{app}\{#Window}.exe"; Tasks: desktop

[Tasks]
Name: desktop; Description: "Put an icon on the desktop"; Flags: unchecked

[Registry]
Root: HKA; Subkey: "Software\Classes\{#Name}.Config"; ValueType: string; ValueData: "{#Name} config"; Flags: uninsdeletekey
Root: HKA; Subkey: "Software\Classes\{#Name}.Config\DefaultIcon"; ValueType: string; ValueData: "{app}\{#Window}.exe,0"
Root: HKA; Subkey: "Software\Classes\{#Name}.Config\shell\open\command"; ValueType: string; ValueData: """{app}\{#Window}.exe"" ""%1"""
Root: HKA; Subkey: "Software\Classes\.toml\OpenWithProgids"; ValueType: string; ValueName: "{#Name}.Config"; ValueData: ""; Flags: uninsdeletevalue

[Run]
Filename: "{app}\{#Window}.exe"; Description: "Open {#Name}"; Flags: nowait postinstall skipifsilent
