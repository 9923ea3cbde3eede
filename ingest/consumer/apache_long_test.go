//go:build long

package consumer

import "testing"

// Each sequence of failure has an Apache Kafka of its own. Those that need an answer that no broker
// can be made to give run on the embedded one alone.
func TestSequencesOfFailureOnApacheKafka(t *testing.T) {
	t.Parallel()
	for name, sequence := range map[string]func(*testing.T){
		"ACommitForADeletedTopicOfTheSameNameIsNotTaken":               TestACommitForADeletedTopicOfTheSameNameIsNotTaken,
		"AConsumerThatCannotWriteLeavesItsPartitionsToOthers":          TestAConsumerThatCannotWriteLeavesItsPartitionsToOthers,
		"AConsumerThatLosesItsRightToWriteLeavesItsPartitionsToOthers": TestAConsumerThatLosesItsRightToWriteLeavesItsPartitionsToOthers,
		"AConsumerThatMayNotWriteDoesNotJoin":                          TestAConsumerThatMayNotWriteDoesNotJoin,
		"AConsumerWhoseInsertsAreRefusedLeavesItsGroup":                TestAConsumerWhoseInsertsAreRefusedLeavesItsGroup,
		"PartitionsDoNotHaveAConnectionEach":                           TestPartitionsDoNotHaveAConnectionEach,
		"ALogThatEndsBeforeWhatIsStoredStandsStill":                    TestALogThatEndsBeforeWhatIsStoredStandsStill,
		"ALogThatLostItsEndAndGrewPastItStandsStill":                   TestALogThatLostItsEndAndGrewPastItStandsStill,
		"ALossIsRecordedOnce":                                          TestALossIsRecordedOnce,
		"APartitionIsRevokedWhileTheInsertOfItsBatchHangs":             TestAPartitionIsRevokedWhileTheInsertOfItsBatchHangs,
		"APartitionWhoseRowsAreRefusedStandsStillUntilTheCauseIsFixed": TestAPartitionWhoseRowsAreRefusedStandsStillUntilTheCauseIsFixed,
		"ARangeAnnouncedUnderNewerRulesIsLeftAlone":                    TestARangeAnnouncedUnderNewerRulesIsLeftAlone,
		"ARecordOfANewerReleaseStopsItsPartitionBeforeIt":              TestARecordOfANewerReleaseStopsItsPartitionBeforeIt,
		"ARecordThatIsNotTheStoredOneIsNotPassedOver":                  TestARecordThatIsNotTheStoredOneIsNotPassedOver,
		"ARepeatFromASpoolIsFoundHoweverOldItIs":                       TestARepeatFromASpoolIsFoundHoweverOldItIs,
		"AReplayOfADeadLetterInTheWindowIsStoredOnce":                  TestAReplayOfADeadLetterInTheWindowIsStoredOnce,
		"ASecondConsumerGroupIsRefused":                                TestASecondConsumerGroupIsRefused,
		"ATopicRecreatedUnderItsNameWhileItIsRead":                     TestATopicRecreatedUnderItsNameWhileItIsRead,
		"AnOffsetOutsideTheLogStandsStill":                             TestAnOffsetOutsideTheLogStandsStill,
		"CommitsSetBackOrDeletedDoubleNothing":                         TestCommitsSetBackOrDeletedDoubleNothing,
		"HolesBelowStoredOffsetsAreFilled":                             TestHolesBelowStoredOffsetsAreFilled,
		"KilledAfterTheInsert":                                         TestKilledAfterTheInsert,
		"KilledBeforeTheInsert":                                        TestKilledBeforeTheInsert,
		"KilledInTheMiddleOfAnInsertOfTwoMonths":                       TestKilledInTheMiddleOfAnInsertOfTwoMonths,
		"OneRefusedPartitionOfABatchHoldsNoOtherUp":                    TestOneRefusedPartitionOfABatchHoldsNoOtherUp,
		"PoisonGoesToTheDeadLettersAndHoldsNothingUp":                  TestPoisonGoesToTheDeadLettersAndHoldsNothingUp,
		"RecordsOfUnusedPartitionsAreStoredWithTheirKey":               TestRecordsOfUnusedPartitionsAreStoredWithTheirKey,
		"RecordsThatArePassedOnTwiceAreStoredOnce":                     TestRecordsThatArePassedOnTwiceAreStoredOnce,
		"RecordsThatExpiredBeforeTheyWereStoredAreOnRecord":            TestRecordsThatExpiredBeforeTheyWereStoredAreOnRecord,
		"RepeatsAreDroppedAlsoAcrossARestart":                          TestRepeatsAreDroppedAlsoAcrossARestart,
		"TheTopicOfALogThatLostItsEndIsRecreated":                      TestTheTopicOfALogThatLostItsEndIsRecreated,
	} {
		t.Run(name, sequence)
	}
}
