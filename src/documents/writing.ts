/** How a language is written in old character sets, so that its texts can be told from others. */
export interface Writing {
  /** Character sets of one byte per character. */
  charsets: readonly string[]
  /** Letters in lower case, the most frequent first. Of Latin scripts only those beyond ASCII. */
  letters: string
  /** The logarithm of how frequent such files are. */
  prior: number
  /** Whether most letters are ASCII, or none are. */
  script: 'latin' | 'other'
  /**
   * The most frequent of those letters with the letter before and behind, three characters each. A
   * space is anything else. Counted in translations of programs.
   */
  context: string
}

const western = ['windows-1252', 'cp850', 'cp437', 'macintosh']
const central = ['windows-1250', 'iso-8859-2', 'cp852']
const baltic = ['windows-1257', 'iso-8859-13', 'iso-8859-4']
const romanian = ['windows-1250', 'iso-8859-16', 'iso-8859-2', 'cp852']
const turkish = ['windows-1254']
const cyrillic = ['windows-1251', 'koi8-r', 'ibm866', 'iso-8859-5', 'x-mac-cyrillic']
const greek = ['windows-1253', 'iso-8859-7']
const hebrew = ['windows-1255', 'iso-8859-8']
const arabic = ['windows-1256', 'iso-8859-6']

const latin = (
  charsets: readonly string[],
  letters: string,
  prior: number,
  context: string,
): Writing => ({ script: 'latin', charsets, letters, prior, context })
const other = (charsets: readonly string[], letters: string, prior: number): Writing => ({
  script: 'other',
  charsets,
  letters,
  prior,
  context: '',
})

export const writings: readonly Writing[] = [
  // German
  latin(
    western,
    'üäößé',
    0,
    'fürgüllüs übtütführückönrößößelösfüg änwährüfmögräthällän öfnöthänrägußemüs' +
      'tätsüdeßeeäntänrärräneöfoß löcnüpsätwürlärbärnärtümläskürhörläufülhöh',
  ),
  // French
  latin(
    western,
    'éèàêçôâîûùëïœæ',
    0,
    ' à té  écrée êtdéfnée étpérrépsé pécférré résdéplé lémséerécdécmérréaréf él' +
      'tèrxéctéeué aînné désmèttèmrôlgénhérié vé têtnérdébdétrèsvérièrsélmét',
  ),
  // Spanish
  latin(
    western,
    'óíáéñúü¿¡ª',
    0,
    'iónváltá númlínañoló símmás íntánsólcódeñará rám árríarónlímió añamáxgúnrác' +
      'págmódró ránuésmétpúbbólbúsmúl órcíomáttónnám úleñotó iénmín úndíscó ',
  ),
  // Portuguese
  latin(
    western,
    'ãçáéíóêõâúàôº',
    -0.5,
    'nãoçãoaçã é sívsãoválçõetá rãopçãnúmtóriçãaçõaíduáreçapçõnívaçonçaeçãtãocê ' +
      'eçohá sáruçãrá págnçãpósiávpúbtémrênmíncód ícsímmórrármáxjá  ármáq à ',
  ),
  // Italian
  latin(
    western,
    'èàùòìéóî',
    -0.5,
    ' è tà uò iù ià rà hé né nù iò sì hénrò oè tù sé iè bétré tésdì  º  â yóntày' +
      'ué tàlrù yú nà ',
  ),
  // Dutch
  latin(western, 'éëïèüöáó', -0.5, 'eëneïnéén één iëreeëiënïërieëdéé eën'),
  // Swedish
  latin(
    western,
    'äöåé',
    -0.5,
    'förvän ärpå vär öv äntälrånsökkäntödläghålmåsränsätlänläs åtlåtnärkörväglös' +
      'rävfälhäm öptänkälgärmålrätjärfölrågtånfärmängörså någfårsäkgånlåsfön',
  ),
  // Finnish
  latin(
    western,
    'äöåé',
    -0.5,
    'tä käytäääärmäääänää lä sä käspäotämiä välpäijä mä yötsältäjtävsäärä näyjäl' +
      'järmänmättö täslöypäälähkääsäitönnä näpvääkä  älnäivä vätäättäytösyä ',
  ),
  // Danish and Norwegian
  latin(
    western,
    'øåæéöäó',
    -0.5,
    'værpå nøgsætlæstørførtøtlæn ænrævsøgkør åbmærhøjhånnårløbfølgænføjlåsrådvæl' +
      'målså jælrækrænløshæntérmå kærgørpørtøjrældødmænmønrér ønrøvrømræfvér',
  ),
  // Icelandic
  latin(
    western,
    'íáðéúóæöþý',
    -2.5,
    'ið að mál á ták í lýðýðv þerá eð rð bís útrðuæðiríseðaríkvæð ógjálsíauðuaðs' +
      'tærráaaðahægsíðrðaiðijöltæktílsýnránsísiðatókuð ríaiðurðidís þaþýðrún',
  ),
  // Estonian
  latin(
    western,
    'äõöüšž',
    -2,
    'võivõtväläärjärlõpmääkässümtöönäimär üh õnsüs ülaõnväätüüsõnvärtühtäiüüpkäi' +
      'täh är ümpäivõrkülkõi üktõröötmälöö põhjätlührükpäesün õiöödkõrnüüpär',
  ),
  // Polish
  latin(
    central,
    'łąęóżśćńź',
    -0.5,
    'ać ożnię użyyć dłość kówośćościć błąłądjąceślłąctówbłęłędięcjścałotępłówoże' +
      'słueń yśwgłóządońckłają rówtóryśl ściązałaną są ał iętdłueżeeżk łasów',
  ),
  // Czech
  latin(
    central,
    'íáéěřýůčžšúťóďň',
    -0.5,
    'ní vánpřený né přiužiná přící líčké vý tí ně měnočevé rávřádpínnáz řává čís' +
      'říkménmá řízsářzí jícbýtíčevýcžáduží číač mís žáněníč výsožkká ší nímařídán' +
      'kátačetů námnýcrázožnrántřeečnníhlíkků jí ',
  ),
  // Slovak
  latin(
    central,
    'áíčéýžúšľôťóňäďĺŕ',
    -1,
    'né ný iť súbať ná ožn činázní užisť ači čírávnéhmá vý kľúľúčžívužíčítyť ráz' +
      'rčupíseľklíkoľbjú čísránočaká  čavé ké  štkácjúc žieľanýcríkvýssárožkkátvá ' +
      'dá sú námtémočeačemôžnšteľnmáteťanú ký  ší',
  ),
  // Hungarian
  latin(
    central,
    'áéöőíóüúű',
    -0.5,
    'tásfájtésnál érsíttó lítzéstárzás ésválrásségvénközlásló zámtékeálrülság ál' +
      'képtő névző cím átkönréslétnítmódmásléstípzó mér új ösgálkövvánkérlülkéntör' +
      'déldástölzártávléplátlálmántérpér írzüktúl',
  ),
  // Slovenian, Croatian
  latin(
    central,
    'čšžćđ',
    -0.5,
    'očeoči štščiožničnači čeiškočaežniši šiičaiči čaščeeč  žeačeažiočnzšiučeaže' +
      ' črišeuščuč nčaoštočklžiožiešeoč ečjačnjšaučieščiščščajščožarščečanšč šk či' +
      'ć ćeć eći ćuđe đu đaići',
  ),
  // Romanian
  latin(
    romanian,
    'ăîșțâşţ',
    -1,
    'tă  înză ișică ațisă ră cți șilă nă pțiițimăreștdă nțiețiță căreșivă aștmă ' +
      'găseșufărișecânpărățințăișagătnătpă rărbțicâtuă  ștcâmlățgă uțicătbă păstân' +
      'fârrșităreșențerțiași îmcăuațămătişiaţicţi şipţiiţieştnţieţiţă eşiaşteşuişe' +
      'ăţinţăişabţi ştlăţuţirşieşenţerţiaşiaţă',
  ),
  // Turkish
  latin(
    turkish,
    'ıüşçğöâî',
    -0.5,
    'içisı dı eçeeğirı lı dırnı tırsınişlnınrınrılnımçık öneğeış  çaiğinılcı  çı' +
      'ağlsüriş mışaşalışmıygöriçesıztı ığıgöstürişiuştaşlıştyükyı ağılıkgüneştişt' +
      'pılnız çorıs özğı aşıböleçiışıuğurünaçıtıl',
  ),
  // Lithuanian
  latin(
    baltic,
    'ėšąžįųūčę',
    -1,
    'ių tų  šidžimą nė  įrnų  į iškešilų ašabūttą tė nėrmų nės žyiš tėslėsiči įv' +
      'ečilėlkšmaštkų mė nį išvašyjų  šarų nčiją sąrišadų tūr įjlį bų  šrlė ačiišs' +
      'dėtašo įdlą tį ką šų kšt žerėtmėsgą bę išj',
  ),
  // Latvian
  latin(
    baltic,
    'āīēšņūļčžķģ',
    -1,
    'rādpārdītlēgvērvēlzīmtēlmērtājtītvāskā rīgtībkļūrāstā ļūdnātlīdbūtošajā lēt' +
      'aļarētāšaiņaēšazētbēr šilā mā sētšķisējtīvešunājmātmāckālmālmē tāltījiņorāk' +
      'kātbīb šokārnāspējtēttāslādežīžīmpēcmēttūr',
  ),
  // Estonian
  latin(
    baltic,
    'äõöüšž',
    -2.5,
    'võivõtväläärjärlõpmääkässümtöönäimär üh õnsüs ülaõnväätüüsõnvärtühtäiüüpkäi' +
      'täh är ümpäivõrkülkõi üktõröötmälöö põhjätlührükpäesün õiöödkõrnüüpär',
  ),
  other(cyrillic, 'оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё', 0),
  other([...cyrillic, 'koi8-u'], 'оанивіетрслкудмпязьбгчйхцюєїжшфщґ', -1.5),
  other(cyrillic, 'аоеитнрсвлкдпмзябъучгцйжщхшфюь', -1.5),
  other(cyrillic, 'аоиенртсјвкдпмулгзбчшжцћњљхђфџ', -2.5),
  other(cyrillic, 'анеіраолстыкдуцмяпвзьхўбйчжгшюэфё', -3),
  other(greek, 'αοιετσνηυρπκμλςωδγχθόίάέήφύβξώζψ', -0.5),
  other(hebrew, 'יוהלאתרמבשנםדקעפחטסגזכןצץךף', 0),
  other(arabic, 'اليمنرتوبعدسهةفقحكجشأصخطذضىزئغثظإءؤآ', -1),
  other(arabic, 'ایردنهوتمسبشکلگزخفپقعجحآغصچذطضثئظژك\u200c', -1.5),
  other(['windows-874'], 'านรอกเงมยลวดทสตะปบคหแจพชขใไโถ่้ิีัูุ์็ึืำผซณฐธศษภฟญฮฉฏ', -1),
]

/**
 * Character sets of two bytes per character. The ranges of lead and trail bytes are those of the
 * frequent characters of each, as far as the standards sort by frequency.
 */
export interface WideWriting {
  charset: string
  /** Ranges of lead bytes: the characters that most texts consist of, 94 or 157 to a row. */
  leads: readonly [first: number, last: number]
  /** The first trail byte. */
  trails: readonly [first: number, last: number][]
  /** The most frequent characters. */
  common: string
  prior: number
}

const han = [[0xa1, 0xfe]] as const
export const wideWritings: readonly WideWriting[] = [
  {
    charset: 'shift_jis',
    leads: [0x88, 0x98],
    trails: [
      [0x40, 0x7e],
      [0x80, 0xfc],
    ],
    common:
      '日本人年大会国出中一上生子分東三行方月見後前回地部高学業場社会時間新開始名者用件請求書',
    prior: -0.5,
  },
  {
    charset: 'euc-jp',
    leads: [0xb0, 0xcf],
    trails: [...han] as [number, number][],
    common: '日本人年大会国出中一上生子分東三行方月見後前回地部高学業場社会時間新開始名者用件',
    prior: -1,
  },
  {
    charset: 'gb18030',
    leads: [0xb0, 0xd7],
    trails: [...han] as [number, number][],
    common:
      '的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心本前开但因只从想实日军者意无力它与长把机十民第公此已工使情明性知全三又关点正业外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或新己制身果加西斯月话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据程北边死张该交规万取拉格望觉术领共确传师观清今切院让识候带导争运',
    prior: -0.5,
  },
  {
    charset: 'big5',
    leads: [0xa4, 0xc6],
    trails: [
      [0x40, 0x7e],
      [0xa1, 0xfe],
    ],
    common:
      '的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心本前開但因只從想實日軍者意無力它與長把機十民第公此已工使情明性知全三又關點正業外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或新己制身果加西斯月話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義各入幾口認條平系氣題活更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直資命山金指許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據程北邊死張該交規萬取拉格望覺術領共確傳師觀清今切院讓識候帶導爭運台臺',
    prior: -0.5,
  },
  {
    charset: 'euc-kr',
    leads: [0xb0, 0xc8],
    trails: [...han] as [number, number][],
    common:
      '이다는을의가에고하지로은를한도기사인서리어대자정시나수있일해부제그과보아전상장안라주오스여만구원으면것들게연습니요까세동성공조마우선모신비거내적관명경국유위소중화생회학때용단당문데분개없않되된할합름입출력설치파실행계속형식류패트호드메터음업록처결변작값확번타크프브블못명령옵션표버추삭준열',
    prior: 0,
  },
]
