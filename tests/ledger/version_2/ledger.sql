BEGIN TRANSACTION;
CREATE TABLE dpselect_accounts (
	number INTEGER NOT NULL, 
	name TEXT NOT NULL, 
	terms TEXT NOT NULL, 
	state TEXT NOT NULL, 
	head TEXT NOT NULL, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "dpselect_accounts" VALUES(1,'pets','{"delta":"4722366482869645/4722366482869645213696","name":"pets","neighbours":"add_remove","number":1,"orders":[["3.8125","9/10"],["1.3515625","1/70"],["1.703125","1/70"],["2.40625","1/70"],["6.625","1/70"],["12.25","1/70"],["23.5","1/70"],["46.0","1/70"]],"set_aside":"0"}','{"entries":8,"epsilon":"20","open":true,"total":["3","0","502891210802255830762279776090696187904 221044604034588277054093284650394845184 273050042133116084920046014206887067648 365300660770627740533624260185619955712 657175982036733469519339560907583782912 792823197865095379768827935783328415744 891335435184077760093407833319773569024 950199641596190506813296646594368634880"],"unit":"person"}','f9ecc64ddc4092272d554acf08dfd89a72db4044d640df0629aa765d494120c4','f4afffb22dd01224add2fccfc9213c6c28217c1ea7c3dac3997747584f9e9b9b');
INSERT INTO "dpselect_accounts" VALUES(2,'old','{"delta":"0","name":"old","neighbours":"add_remove","number":2,"orders":[],"set_aside":"0"}','{"entries":2,"epsilon":"1/3","open":false,"total":["0","0",""],"unit":null}','349be9fd6bb3f0fd30e8e299460fa36cdaee530a44923812d48c557776b2d120','fa07a63472ea0ad9c5cc976423f835859fc916ac98f515fb83ee48d0e846ad47');
CREATE TABLE dpselect_entries (
	account INTEGER NOT NULL, 
	sequence BIGINT NOT NULL, 
	request TEXT, 
	body TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (account, sequence), 
	FOREIGN KEY(account) REFERENCES dpselect_accounts (number)
)
 WITHOUT ROWID

;
INSERT INTO "dpselect_entries" VALUES(1,0,NULL,'{"account":"pets","epsilon":"10","kind":"open","sequence":0,"terms":"{\"delta\":\"4722366482869645/4722366482869645213696\",\"name\":\"pets\",\"neighbours\":\"add_remove\",\"number\":1,\"orders\":[[\"3.8125\",\"9/10\"],[\"1.3515625\",\"1/70\"],[\"1.703125\",\"1/70\"],[\"2.40625\",\"1/70\"],[\"6.625\",\"1/70\"],[\"12.25\",\"1/70\"],[\"23.5\",\"1/70\"],[\"46.0\",\"1/70\"]],\"set_aside\":\"0\"}","time":"2026-11-22T18:45:13.727+00:00","unit":"person"}','2b23b416fe85ba6d81e933e8e982708f754514ac495921952118504be2ec971a');
INSERT INTO "dpselect_entries" VALUES(1,1,'november','{"account":"pets","cost":["1/2","0","106494888949853377581791909870066204672 48242432303746188408509155316124876800 59436903523843965990044667039644123136 78935189844453984926436332353800372224 133068857300430577547612539551343443968 150436044436467833041338590748748021760 159983513203758666009650178896716365824 164982365832990456778981115188647821312"],"event":"{\"event\":{\"epsilon\":\"0.5\",\"kind\":\"laplace_profile\",\"version\":1},\"kind\":\"run\",\"mechanism\":\"PermuteAndFlip\",\"neighbours\":\"add_remove\",\"unit\":\"person\",\"version\":1}","kind":"charge","question":"3b411fc4b57dd1e10b7a83bdccb51bb86b6be7229e51ae4b5dbc124f62b4e236","request":"november","sequence":1,"time":"2026-11-22T18:45:14.055+00:00"}','0302e2da8ec0f07a1edeef80dc2ec3689b1b7f1468e430ff22a4756ba04b2324');
INSERT INTO "dpselect_entries" VALUES(1,2,NULL,'{"account":"pets","cost":["1/2","0","38991510577782379507941215319636312064 14299259634602488994438854740755349504 17974206231634778736430096060547858432 25207388038076673155537036414937989120 62705253035014073533825553231373139968 94009337911750478217765652334704066560 121706812311753361303661819389892624384 140763925657563945947303685254423773184"],"event":"{\"event\":{\"epsilon\":\"0.5\",\"kind\":\"bounded_range\",\"version\":1},\"kind\":\"run\",\"mechanism\":\"QuantileMechanism\",\"neighbours\":\"add_remove\",\"unit\":\"person\",\"version\":1}","kind":"charge","sequence":2,"time":"2026-11-22T18:45:14.086+00:00"}','9839665df657efada0dc65fce120f4dc536f0d2996482426199acad0cd31c798');
INSERT INTO "dpselect_entries" VALUES(1,3,NULL,'{"account":"pets","cost":["1/2","0","106494888949853377581791909870066204672 48242432303746188408509155316124876800 59436903523843965990044667039644123136 78935189844453984926436332353800372224 133068857300430577547612539551343443968 150436044436467833041338590748748021760 159983513203758666009650178896716365824 164982365832990456778981115188647821312"],"event":"{\"event\":{\"epsilon\":\"0.5\",\"kind\":\"laplace_profile\",\"version\":1},\"kind\":\"run\",\"mechanism\":\"PriceListMechanism\",\"neighbours\":\"add_remove\",\"unit\":\"person\",\"version\":1}","kind":"charge","sequence":3,"time":"2026-11-22T18:45:14.115+00:00"}','0f1cba6769d364f50fffcd0158df0fe01a48a50713125c2f239462415772c388');
INSERT INTO "dpselect_entries" VALUES(1,4,NULL,'{"account":"pets","cost":["1/2","0","37920144425059940927170921290795057152 13775615185001034425617808645139988480 17328221806105442223437249987762716672 24352513354735127672341894355480477696 62195299799997085795063849470836867072 97069682207473569385707920453632262144 129694570057289734751145298343015481344 149506252606664733750068500585353576448"],"event":"{\"event\":{\"count\":2,\"event\":{\"count\":2,\"event\":{\"epsilon\":\"0.125\",\"kind\":\"laplace_profile\",\"version\":1},\"kind\":\"composed\",\"version\":1},\"kind\":\"composed\",\"version\":1},\"kind\":\"run\",\"mechanism\":\"PermuteAndFlip\",\"neighbours\":\"add_remove\",\"unit\":\"person\",\"version\":1}","kind":"charge","sequence":4,"time":"2026-11-22T18:45:14.149+00:00"}','0a73623399db53e614166db42a42fa10c55d776cff0ab7442b212a55af656f66');
INSERT INTO "dpselect_entries" VALUES(1,5,NULL,'{"account":"pets","cost":["1/2","0","106494888949853377581791909870066204672 48242432303746188408509155316124876800 59436903523843965990044667039644123136 78935189844453984926436332353800372224 133068857300430577547612539551343443968 150436044436467833041338590748748021760 159983513203758666009650178896716365824 164982365832990456778981115188647821312"],"event":"{\"event\":{\"epsilon\":\"0.5\",\"kind\":\"laplace_profile\",\"version\":1},\"kind\":\"run\",\"mechanism\":\"PermuteAndFlip\",\"neighbours\":\"add_remove\",\"unit\":\"person\",\"version\":1}","kind":"charge","sequence":5,"time":"2026-11-22T18:45:14.180+00:00"}','2c48aa6e5e2ac50885fd9eb06cdb3155dd31076a16d13794d8716bf8c30b7174');
INSERT INTO "dpselect_entries" VALUES(1,6,'by hand','{"account":"pets","cost":["1/2","0","106494888949853377581791909870066204672 48242432303746188408509155316124876800 59436903523843965990044667039644123136 78935189844453984926436332353800372224 133068857300430577547612539551343443968 150436044436467833041338590748748021760 159983513203758666009650178896716365824 164982365832990456778981115188647821312"],"event":"{\"epsilon\":\"0.5\",\"kind\":\"laplace_profile\",\"version\":1}","kind":"charge","note":"kept","question":"9e6b3630b9ae9e85d50e5655267edf476106d172deaf08c67171208dc9a19ec6","request":"by hand","sequence":6,"time":"2026-11-22T18:45:14.183+00:00"}','1072513075081fc7dfac1a3c46b8cbf5b00cf706446ab256b4aa8222e81e511a');
INSERT INTO "dpselect_entries" VALUES(1,7,NULL,'{"account":"pets","epsilon":"20","kind":"limit","sequence":7,"time":"2026-11-22T18:45:14.184+00:00"}','f9ecc64ddc4092272d554acf08dfd89a72db4044d640df0629aa765d494120c4');
INSERT INTO "dpselect_entries" VALUES(2,0,NULL,'{"account":"old","epsilon":"1/3","kind":"open","sequence":0,"terms":"{\"delta\":\"0\",\"name\":\"old\",\"neighbours\":\"add_remove\",\"number\":2,\"orders\":[],\"set_aside\":\"0\"}","time":"2026-11-22T18:45:13.730+00:00","unit":null}','14ed5d75fd9e1a14db2fcdb7efcaee1584be983d5f758b3c22e8f12760067dd3');
INSERT INTO "dpselect_entries" VALUES(2,1,NULL,'{"account":"old","kind":"close","sequence":1,"time":"2026-11-22T18:45:13.733+00:00"}','349be9fd6bb3f0fd30e8e299460fa36cdaee530a44923812d48c557776b2d120');
CREATE TABLE dpselect_migrations (
	version INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	PRIMARY KEY (version)
);
INSERT INTO "dpselect_migrations" VALUES(1,'2026-11-22T18:45:13+00:00');
INSERT INTO "dpselect_migrations" VALUES(2,'2026-11-22T18:45:13+00:00');
CREATE TABLE dpselect_releases (
	account INTEGER NOT NULL, 
	sequence BIGINT NOT NULL, 
	body TEXT NOT NULL, 
	hash TEXT NOT NULL, 
	PRIMARY KEY (account, sequence), 
	FOREIGN KEY(account, sequence) REFERENCES dpselect_entries (account, sequence)
)
 WITHOUT ROWID

;
INSERT INTO "dpselect_releases" VALUES(1,1,'{"candidates": {"count": 3, "kind": "text", "origin": "caller"}, "column": "pet", "digest": "6700c56798861465ce84eddada08cad8a04c652a6aeb53eb2072953ea8498b91", "error_bound": {"confidence": 0.99, "within": 9.203640122882982}, "event": {"epsilon": "0.5", "kind": "laplace_profile", "version": 1}, "guarantee": {"delta": 0.0, "epsilon": 0.5, "neighbours": "add_remove", "unit": "person"}, "mechanism": {"monotonic": true, "name": "PermuteAndFlip", "rounds": 1, "sensitivity": 1.0}, "proofs": ["proofs/counting.md", "proofs/permute_and_flip.md", "proofs/exact_sampling.md"], "receipt": {"account": "pets", "hash": "0302e2da8ec0f07a1edeef80dc2ec3689b1b7f1468e430ff22a4756ba04b2324", "request": "november", "sequence": 1, "time": "2026-11-22T18:45:14.055+00:00"}, "task": "most_common", "time": "2026-11-22T18:45:14+00:00", "value": "cat", "version": "0.1.0"}','63deb07e020498bd46f0fba4b570a075a4ea97ccdc07bc0be893b8969ec72e68');
INSERT INTO "dpselect_releases" VALUES(1,6,'answer','33135fa1d01183cdc883b320a13e451a800e4373b62abda7aea74a440c024fd0');
CREATE INDEX dpselect_entries_request ON dpselect_entries (account, request) WHERE request IS NOT NULL;
CREATE TRIGGER dpselect_entries_no_update BEFORE UPDATE ON dpselect_entries BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed, and accounts never deleted'); END;
CREATE TRIGGER dpselect_entries_no_delete BEFORE DELETE ON dpselect_entries BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed, and accounts never deleted'); END;
CREATE TRIGGER dpselect_releases_no_update BEFORE UPDATE ON dpselect_releases BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed, and accounts never deleted'); END;
CREATE TRIGGER dpselect_releases_no_delete BEFORE DELETE ON dpselect_releases BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed, and accounts never deleted'); END;
CREATE TRIGGER dpselect_accounts_no_delete BEFORE DELETE ON dpselect_accounts BEGIN SELECT RAISE(ABORT, 'entries of a ledger are never changed, and accounts never deleted'); END;
COMMIT;
